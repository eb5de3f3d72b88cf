package component

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestComponentsStartWithTheirPlugin: a file that hangs holds up the components of no other
// one, whether a section may be of it or not.
func TestComponentsStartWithTheirPlugin(t *testing.T) {
	for name, more := range map[string][]config.Component{
		"nothing of it is configured": nil,
		"something may be of it":      {section(kind.Watcher, "lamp", "main", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			host := hostOf(t, map[string]string{"aaa": "exec sleep 600", "zeta": "exec '" + own(t) + "'"})
			m := New(Options{Plugins: host, Log: hclog.NewNullLogger(), Secrets: func(...string) {}})
			m.Load(append(more, section(kind.Trigger, "mail", "main", map[string]string{"host": "mx"})))
			ctx, cancel := context.WithCancel(t.Context())
			discovered := make(chan error, 1)
			go func() { discovered <- host.DiscoverEach(ctx, func() { m.Continue() }) }()
			if err := m.Await(ctx, kind.Trigger); err != nil {
				t.Fatal(err)
			}
			c, known := m.Trigger("mail.main")
			if state, err := c.State(); !known || state != Ready {
				t.Errorf("its component is %s, %v", state, err)
			}
			if hangs, _ := host.Bundle("aaa"); hangs.Status().State != plugin.Starting {
				t.Errorf("by then aaa is %s", hangs.Status().State)
			}
			if waiting := m.Waiting(); len(waiting) != len(more) {
				t.Errorf("waiting are %v", waiting)
			}
			cancel()
			<-discovered
			m.Finish()
			if err := m.Await(t.Context()); err != nil {
				t.Error(err)
			}
			if n := len(m.All(kind.Watcher)); n != len(more) {
				t.Errorf("%d watchers", n)
			}
		})
	}
}

// TestAwaitListedAwaitsEachComponent, also those whose section waits no more and is being configured: what notifies
// triggers begins then, and one that is not listed yet would miss a message.
func TestAwaitListedAwaitsEachComponent(t *testing.T) {
	host := hostOf(t, map[string]string{"zeta": "exec '" + own(t) + "'"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var m *Manager
	configured := 0
	m = New(Options{
		Plugins: host, Log: hclog.NewNullLogger(), Secrets: func(...string) {},
		ValidateTrigger: func(TriggerOptions) []config.Problem {
			if configured++; m.AwaitListed(ended) == nil {
				t.Errorf("all are listed while the one of section %d is made", configured)
			}
			return nil
		},
	})
	m.Load([]config.Component{
		section(kind.Trigger, "mail", "main", map[string]string{"host": "mx"}),
		section(kind.Trigger, "mail", "other", map[string]string{"host": "mx"}),
	})
	if err := host.DiscoverEach(t.Context(), func() { m.Continue() }); err != nil {
		t.Fatal(err)
	}
	if err := m.AwaitListed(ended); err != nil || configured != 2 || len(m.Triggers()) != 2 {
		t.Errorf("%v, with %d components of %d sections", err, len(m.Triggers()), configured)
	}
}

// own is this program, which serves the types of testBundle as a plugin.
func own(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// hostOf is a host of scripts.
func hostOf(t *testing.T, scripts map[string]string) *plugin.Host {
	t.Helper()
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	host, err := plugin.New(plugin.Options{
		Dir: dir, RunDirs: []string{dir}, Trust: noTrust{}, Isolation: plugin.Isolation{Off: true},
		Log: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	return host
}
