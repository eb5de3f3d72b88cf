package service

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Plugin is a bundle and its process.
type Plugin struct {
	plugin.Status
	// Memory is what its process occupies, in bytes; 0 when that is not known.
	Memory int64
	// Installed is how it came there; nil for one that was put there by hand.
	Installed *install.Status
}

// Plugins returns the plugins, built-in ones first.
func (s *Service) Plugins() []Plugin {
	var all []Plugin
	var installed []install.Status
	if s.opt.Installs != nil {
		installed = s.opt.Installs.Installed()
	}
	for _, b := range s.opt.Plugins.Bundles() {
		p := s.plugin(b)
		for i := range installed {
			if !b.Builtin && installed[i].Name == b.Name {
				p.Installed = &installed[i]
			}
		}
		all = append(all, p)
	}
	return all
}

// installProblems returns what of plugins.install could not be installed.
func (s *Service) installProblems() []config.Problem {
	if s.opt.Installs == nil {
		return nil
	}
	return s.opt.Installs.Problems()
}

func (s *Service) plugin(b plugin.Status) Plugin {
	b.Error, b.SDK, b.Note = s.opt.Redact(b.Error), s.opt.Redact(b.SDK), s.opt.Redact(b.Note)
	if b.Isolation != nil {
		shown := *b.Isolation
		shown.Paths, shown.Lacks = s.redactAll(shown.Paths), s.redactAll(shown.Lacks)
		b.Isolation = &shown
	}
	b.Output = s.redactAll(b.Output)
	return Plugin{Status: b, Memory: residentMemory(b.PID)}
}

func (s *Service) redactAll(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, s.opt.Redact(text))
	}
	return all
}

// bundle finds a plugin by its name, whatever the letter case.
func (s *Service) bundle(name string) (*plugin.Supervisor, error) {
	for _, b := range s.opt.Plugins.Bundles() {
		if !strings.EqualFold(b.Name, name) {
			continue
		}
		if found, known := s.opt.Plugins.Bundle(b.Name); known {
			return found, nil
		}
	}
	return nil, fmt.Errorf("plugin %q: %w", name, ErrNotFound)
}

// RestartPlugin begins to restart a plugin, whatever the letter case of its name,
// and returns its state. The error is an ErrNotFound when there is no such plugin.
func (s *Service) RestartPlugin(actor auth.Actor, name string) (Plugin, error) {
	b, err := s.bundle(name)
	if err == nil {
		err = allow(actor, auth.Write, "restart plugins")
	}
	if err != nil {
		return Plugin{}, err
	}
	b.Restart()
	return s.plugin(b.Status()), nil
}

// TrustPlugin accepts the executable of a third-party plugin that a user has seen,
// by its SHA-256 in hexadecimal, and starts it. It returns the plugin's state. The
// error is an ErrNotFound when there is no such plugin, an ErrForbidden unless the
// actor is an operator, an *sdk.InvalidError when sha256 is no checksum, and any
// other one when the file cannot be trusted.
func (s *Service) TrustPlugin(ctx context.Context, actor auth.Actor, name, sha256 string) (Plugin, error) {
	b, err := s.bundle(name)
	if err == nil {
		err = allowOperator(actor, "say which plugins are trusted")
	}
	if err == nil {
		err = s.safe(s.opt.Plugins.Trust(ctx, b.Status().Name, sha256))
	}
	if err != nil {
		return Plugin{}, err
	}
	s.auditPlugin(ctx, actor, "plugin "+name, "another file", "the file "+sha256)
	return s.plugin(b.Status()), nil
}

// GrantPlugin gives a capability to an installed plugin, or takes it away, and has it
// started again; who did so is recorded in the log of events. The error is an ErrNotFound when no plugin of that name
// was installed,
// an ErrForbidden unless the actor is an operator, and any other one when that cannot be.
func (s *Service) GrantPlugin(
	ctx context.Context, actor auth.Actor, name, capability string, granted bool,
) (Plugin, error) {
	b, err := s.bundle(name)
	if err == nil {
		err = allowOperator(actor, "say what plugins are granted")
	}
	if err == nil && s.opt.Installs == nil {
		err = fmt.Errorf("plugin %q: %w", name, ErrNotFound)
	}
	if err == nil {
		err = s.safe(s.opt.Installs.Grant(ctx, b.Status().Name, capability, granted))
	}
	if err != nil {
		return Plugin{}, err
	}
	words := []string{"not granted", "granted"}
	if !granted {
		slices.Reverse(words)
	}
	s.auditPlugin(ctx, actor, "plugin "+name+": "+capability, words[0], words[1])
	return s.plugin(b.Status()), nil
}

// Types returns the known types of a kind, sorted by name.
func (s *Service) Types(k kind.Kind) []kind.Type { return s.opt.Plugins.Types(k) }

// residentMemory returns what a process occupies in bytes (proc(5), statm); 0 where
// the system does not say.
func residentMemory(pid int) int64 {
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
