package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// stopAt is a host that is gone once a step of a code begins, or has been taken.
type stopAt struct {
	*journal
	code  string
	ended bool
}

func (j *stopAt) Begin(ctx context.Context, s watcher.Step) error {
	if s.Code == j.code && !j.ended {
		return errGone
	}
	return j.journal.Begin(ctx, s)
}

func (j *stopAt) End(ctx context.Context, s watcher.Step, facts map[string]string, err error) error {
	if s.Code == j.code {
		return errGone
	}
	return j.journal.End(ctx, s, facts, err)
}

// spoil stops a container and makes it fail to start again.
func (l *lab) spoil(t *testing.T, name string) {
	t.Helper()
	check(t, l.API.ContainerStop(t.Context(), name, container.StopOptions{}))
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	check(t, w.WriteHeader(&tar.Header{Name: "main", Mode: 0o755, Size: 4}))
	_, err := w.Write([]byte("none"))
	check(t, err)
	check(t, w.Close())
	check(t, l.API.CopyToContainer(t.Context(), name, "/", &archive, container.CopyToContainerOptions{}))
}

// TestRecoverGoesForwardOnlyToAContainerThatRuns: the host is gone once the new
// container has worked, and something happens to it before the host is back.
func TestRecoverGoesForwardOnlyToAContainerThatRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for name, test := range map[string]struct {
		removed bool // the old container, before the host was gone
		happens func(t *testing.T)
		want    watcher.OutcomeState
		says    string
		left    map[string]bool // running, by name
	}{
		"nothing": {happens: func(*testing.T) {}, want: watcher.Updated, left: map[string]bool{"web": true}},
		"stopped": {
			happens: func(t *testing.T) { check(t, l.API.ContainerStop(t.Context(), "web", container.StopOptions{})) },
			want:    watcher.Updated, left: map[string]bool{"web": true},
		},
		"does not start": {
			happens: func(t *testing.T) { l.spoil(t, "web") }, want: watcher.RolledBack,
			says: "does not stay up any more", left: map[string]bool{"web": true},
		},
		"removed": {happens: func(t *testing.T) { l.Remove(t, "web") }, want: watcher.RolledBack,
			says: "another client has removed", left: map[string]bool{"web": true}},
		"renamed": {happens: func(t *testing.T) { check(t, l.API.ContainerRename(t.Context(), "web", "mine")) },
			want: watcher.Updated, left: map[string]bool{"mine": true}},
		"taken": {happens: func(t *testing.T) {
			l.Remove(t, "web")
			l.make(t, "web", "app:1", shape{}, true)
		}, want: watcher.Broken, says: "another container", left: map[string]bool{"web": true, "web-dogwatch-op1": true}},
		"does not start, old one removed": {
			removed: true, happens: func(t *testing.T) { l.spoil(t, "web") }, want: watcher.Broken,
			says: "does not exist any more, and the new web does not stay up", left: map[string]bool{"web": false},
		},
		"removed, old one removed": {
			removed: true, happens: func(t *testing.T) { l.Remove(t, "web") }, want: watcher.Broken,
			says: "there is no new one", left: map[string]bool{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := l.make(t, "web", "app:1", shape{}, true)
			req := l.request(id)
			op := watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
			j := &stopAt{journal: &journal{}, code: watcher.StepRemove, ended: test.removed}
			if _, err := l.docker.Apply(t.Context(), op, j); err == nil {
				t.Fatal("the host was not gone")
			}
			test.happens(t)
			op.Steps = j.steps
			again := &journal{steps: op.Steps}
			out, err := l.docker.Recover(t.Context(), op, again)
			check(t, err)
			if out.State != test.want || !strings.Contains(out.Reason.Text, test.says) {
				t.Errorf("%+v", out)
			}
			op.Steps = again.steps
			if second, err := l.docker.Recover(t.Context(), op, &journal{}); err != nil || second.State != out.State {
				t.Errorf("recovered again: %+v, %v", second, err)
			}
			all, err := l.API.ContainerList(t.Context(), container.ListOptions{All: true})
			check(t, err)
			if len(all) != len(test.left) {
				t.Errorf("%d containers are left", len(all))
			}
			for _, c := range all {
				if running, found := test.left[engine.Name(c)]; !found || running != (c.State == "running") {
					t.Errorf("%s is %s", engine.Name(c), c.State)
				}
				if test.want == watcher.RolledBack && c.ID != id {
					t.Errorf("%s is not the old container", engine.Name(c))
				}
				l.Remove(t, engine.Name(c))
			}
		})
	}
}
