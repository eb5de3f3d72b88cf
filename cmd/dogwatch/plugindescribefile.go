package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/internal/contained"
)

// approved is a plugin.TrustStore for a file that the user has just agreed to start.
type approved struct{}

func (approved) Checksum(context.Context, string) ([]byte, bool, error) { return nil, false, nil }
func (approved) Trust(context.Context, string, []byte) error            { return nil }

// describeFile starts the only executable of a folder for a moment, as Dogwatch
// starts plugins, and returns what it says of itself.
func describeFile(
	ctx context.Context, cfg *config.Config, dir, name string, log hclog.Logger, redactor *logging.Redactor,
) (artifact.Plugin, error) {
	none := artifact.Plugin{}
	host, err := plugin.New(plugin.Options{
		Builtins: builtins(), Dir: dir, Env: cfg.Plugins.Env, Isolation: wiring.Isolation(cfg),
		RunDirs: plugin.RunDirs(cfg.Store.Path), Trust: approved{},
		Log: log, Contained: contained.Here(), Redact: redactor.String,
	})
	if err != nil {
		return none, err
	}
	defer host.Close()
	if err := host.Discover(ctx); err != nil {
		return none, err
	}
	s, found := host.Bundle(name)
	if !found {
		return none, fmt.Errorf("%s is not executable", name)
	}
	st := s.Status()
	if len(st.Types) == 0 {
		return none, errors.New(st.Error)
	}
	p := artifact.Plugin{Name: name, Version: st.Version, SDK: st.SDK, Capabilities: sensitive(st.Requested)}
	for _, t := range st.Types {
		p.Types = append(p.Types, string(t.Kind)+"."+t.Type)
	}
	slices.Sort(p.Types)
	return p, nil
}

// verifyClaims starts a plugin that the user agreed to, before it is put in its place,
// and compares what it says to what its artifact said. What the artifact left out is
// completed.
func (p pluginFolder) verifyClaims(ctx context.Context, s *install.Staged) error {
	described, err := describeFile(ctx, p.cfg, filepath.Dir(s.Path), s.Name, p.logins.log, p.logins.redactor)
	if err != nil {
		return fmt.Errorf("%s does not start as a plugin, and is not installed: %w", s.Name, err)
	}
	if err := p.mayHold(ctx, s.Name, described.Types); err != nil {
		return err
	}
	claimed := sensitive(s.Capabilities)
	for _, c := range described.Capabilities {
		if len(s.Types) > 0 && !slices.Contains(claimed, c) {
			return fmt.Errorf("%s asks for the capability %s, of which its artifact says nothing, and is not installed",
				s.Name, c)
		}
	}
	if slices.Sort(s.Types); len(s.Types) > 0 && !slices.Equal(s.Types, described.Types) {
		return fmt.Errorf("%s holds %s, and its artifact says %s: it is not installed", s.Name,
			strings.Join(described.Types, " "), strings.Join(s.Types, " "))
	}
	if len(s.Types) == 0 {
		s.Types, s.Capabilities = described.Types, described.Capabilities
		fmt.Fprintf(p.g.stdout, "%-14s %s\n%-14s %s\n", "types", printable(strings.Join(described.Types, " ")), "asks for",
			printable(p.requested(s)))
	}
	s.Version = cmp.Or(s.Version, described.Version)
	if s.SDK == "" {
		s.SDK = described.SDK
	}
	return nil
}
