package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestComposeFileOfAContainerIsRefused has real containers mount the folder of the compose file.
func TestComposeFileOfAContainerIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for name, c := range map[string]struct {
		// mount is what the container beside has, DIR the folder of the compose file.
		mount, command string
		trusted        bool
		own            bool
		stopped        bool
		env            bool // the text to change is in the .env file
		linked         bool // the path leads through a link in a folder that the container can write
		block          string
	}{
		"written":        {mount: "DIR:/x", block: compose.FileShared},
		"above":          {mount: "DIR/..:/x", block: compose.FileShared},
		"read-only":      {mount: "DIR:/x:ro"},
		"below":          {mount: "DIR/data:/x"},
		"stopped":        {mount: "DIR:/x", stopped: true},
		"trusted":        {mount: "DIR:/x", trusted: true},
		"dogwatch's own": {mount: "DIR:/x", own: true},
		"env file":       {mount: "DIR/.env:/x", env: true, block: compose.FileShared},
		"linked":         {mount: "DIR/data:/x", linked: true, block: compose.FileShared},
		"command":        {mount: "DIR/.env:/x", command: "command", block: compose.FileShared},
	} {
		t.Run(name, func(t *testing.T) {
			text := composeText
			if c.env {
				text = strings.Replace(text, `"app:1"`, `"app:${TAG}"`, 1)
			}
			p := newProject(t, l, text)
			dir := filepath.Dir(p.file)
			check(t, os.Mkdir(filepath.Join(dir, "data"), 0o755))
			p.write(t, filepath.Join(dir, ".env"), "TAG=1\n")
			labels := p.labels()
			if c.linked {
				check(t, os.Symlink("..", filepath.Join(dir, "data/sub")))
				labels[compose.LabelFile] = "data/sub/compose.yml"
			}
			options := Options{Connection: Connection{Socket: l.Host}, Update: true, Compose: update.ComposeRequest}
			if c.trusted {
				options.ComposeTrusted = []string{"beside"}
			}
			d := watch(t, options)
			d.updater.Liveness = soon
			id := l.make(t, "web", "app:1", shape{Config: container.Config{Labels: labels}}, true)
			defer l.Remove(t, "web")
			req := p.request(id)
			req.Rules.Compose.Command = c.command != ""
			before, err := d.Plan(t.Context(), req)
			check(t, err)
			if c.command != "" && codes(before.Blocks) == replace.BlockCommand {
				plugintest.Skip(t, "docker-compose", before.Blocks[0].Text)
			}
			if len(before.Blocks) > 0 {
				t.Fatalf("blocked already: %v", before.Blocks)
			}
			binds := []string{strings.ReplaceAll(c.mount, "DIR", dir)}
			other := l.make(t, "beside", "app:1", shape{Host: container.HostConfig{Binds: binds}, stopped: c.stopped}, true)
			defer l.Remove(t, "beside")
			if c.own {
				d.updater.Whereabouts = in(other)
			}
			plan, err := d.Plan(t.Context(), req)
			check(t, err)
			if got := codes(plan.Blocks); got != c.block {
				t.Fatalf("blocked by %q (%+v), want %q", got, plan.Blocks, c.block)
			}
			out, err := d.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: before}, &journal{})
			check(t, err)
			if c.block == "" {
				if out.State != watcher.Updated {
					t.Errorf("%+v", out)
				}
				return
			}
			if out.State != watcher.Unchanged || out.Reason.Code != c.block {
				t.Errorf("applied all the same: %+v", out)
			}
			for _, want := range []string{"the container beside has ", "composetrusted"} {
				if !strings.Contains(plan.Blocks[0].Text, want) {
					t.Errorf("%q does not say %q", plan.Blocks[0].Text, want)
				}
			}
			p.want(t, text)
			if got := l.inspect(t, "web"); got.ID != id || !got.State.Running {
				t.Errorf("the container is %s, running %t", got.ID, got.State.Running)
			}
		})
	}
}
