package docker

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// put copies files into a container as compose does with configs and secrets of its own.
func (l *lab) put(t *testing.T, id string, files map[string]string) {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for path, content := range files {
		check(t, w.WriteHeader(&tar.Header{
			Name: path, Size: int64(len(content)), Mode: 0o440, Uid: 1000, Gid: 44, ModTime: time.Now(),
		}))
		_, err := w.Write([]byte(content))
		check(t, err)
	}
	check(t, w.Close())
	check(t, l.API.CopyToContainer(t.Context(), id, "/", &archive, container.CopyToContainerOptions{}))
}

// read returns a file of a container with its owner and mode; "" when there is none.
func (l *lab) read(t *testing.T, name, path string) string {
	t.Helper()
	stream, _, err := l.API.CopyFromContainer(t.Context(), name, path)
	if err != nil {
		return ""
	}
	defer stream.Close()
	r := tar.NewReader(stream)
	header, err := r.Next()
	check(t, err)
	content, err := io.ReadAll(r)
	check(t, err)
	return fmt.Sprintf("%s %d:%d %o", content, header.Uid, header.Gid, header.Mode&0o777)
}

// TestUpdateKeepsFilesOfCompose: what compose puts into a container before it starts is in the
// new one too, update after update, and of what depends on it. What a program wrote is not.
func TestUpdateKeepsFilesOfCompose(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	files := map[string]string{
		"/etc/app/app.conf": "level: debug\n", "/run/secrets/token": "hunter2", "/main.conf": strings.Repeat("x", 4096),
	}
	web := l.make(t, "web", "app:1", shape{files: files}, true)
	l.make(t, "client", "app:1", shape{
		Host: container.HostConfig{NetworkMode: container.NetworkMode("container:" + web)}, files: files,
	}, true)
	if code := l.run(t, "web", "/main", "health", "h"); code != 0 {
		t.Fatalf("the program ends with code %d", code)
	}
	if l.read(t, "web", "/calls") == "" {
		t.Fatal("the program wrote nothing")
	}
	holds := func(when string) {
		t.Helper()
		for _, name := range []string{"web", "client"} {
			for path, content := range files {
				if got, want := l.read(t, name, path), content+" 1000:44 440"; got != want {
					t.Errorf("%s: %s of %s is %.40q, want %.40q", when, path, name, got, want)
				}
			}
		}
	}
	update := func(when string) watcher.Outcome {
		t.Helper()
		id := l.inspect(t, "web").ID
		out, plan, _ := l.apply(t, id, watcher.UpdateRules{})
		for path := range files {
			if !slices.ContainsFunc(plan.Carried, func(s watcher.Setting) bool {
				return s.Name == "file "+path && s.Value != ""
			}) {
				t.Errorf("%s: the plan does not show that %s is carried over: %v", when, path, plan.Carried)
			}
		}
		if strings.Contains(fmt.Sprint(plan), "hunter2") {
			t.Errorf("%s: the plan shows a secret", when)
		}
		return out
	}
	if out := update("first"); out.State != watcher.Updated || len(out.Warnings) > 0 {
		t.Errorf("%+v", out)
	}
	holds("first")
	if got := l.read(t, "web", "/calls"); got != "" {
		t.Errorf("what the old one wrote is in the new one: %s", got)
	}
	check(t, l.API.ContainerRestart(t.Context(), "web", container.StopOptions{}))
	if out := update("restarted"); out.State != watcher.Updated {
		t.Errorf("%+v", out)
	}
	holds("restarted")
	l.new = l.Image(t, "app:bad", `ENTRYPOINT ["/missing"]`)
	if out := update("returned"); out.State != watcher.RolledBack {
		t.Errorf("%+v", out)
	}
	holds("returned")
}

// TestPlanNamesWhatAContainerHasWritten on a real engine, and says where it cannot know it.
func TestPlanNamesWhatAContainerHasWritten(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	web := l.make(t, "web", "app:1", shape{}, true)
	l.put(t, web, map[string]string{"/var/lib/app.db": strings.Repeat("x", 3<<20)})
	plan, err := l.docker.Plan(t.Context(), l.request(web))
	check(t, err)
	if len(plan.Blocks) != 1 || plan.Blocks[0].Code != replace.BlockData ||
		!strings.Contains(plan.Blocks[0].Text, "/var/lib/app.db 3.0 MiB") {
		t.Errorf("blocks %+v", plan.Blocks)
	}
	for _, refused := range []string{"/changes", "/archive"} {
		l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
			if strings.HasSuffix(r.URL.Path, refused) {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			engine.ServeHTTP(w, r)
		})
		plan, err := l.docker.Plan(t.Context(), l.request(web))
		check(t, err)
		if !slices.ContainsFunc(plan.Blocks, func(r watcher.Reason) bool {
			return r.Code == replace.BlockFiles && r.Acknowledge && strings.Contains(r.Text, "CONTAINERS=1")
		}) {
			t.Errorf("%s refused: blocks %+v", refused, plan.Blocks)
		}
	}
	small := l.make(t, "small", "app:1", shape{files: map[string]string{"/app.conf": "x"}}, true)
	l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
		if r.Method == http.MethodPut {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		engine.ServeHTTP(w, r)
	})
	out, _, _ := l.apply(t, small, watcher.UpdateRules{})
	if out.State != watcher.RolledBack || out.Reason.Code != "step.create" ||
		!strings.Contains(out.Reason.Text, "put files into small") {
		t.Errorf("%+v", out)
	}
	if c := l.inspect(t, "small"); c.ID != small || !c.State.Running {
		t.Errorf("the old one is %s", c.State.Status)
	}
	if _, err := l.API.ContainerInspect(t.Context(), "small-dogwatch-op1"); err == nil {
		t.Error("a container is left over")
	}
}
