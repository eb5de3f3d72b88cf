package docker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestLogs reads the logs of containers of a dockerd and a Podman of its own.
func TestLogs(t *testing.T) {
	t.Parallel()
	t.Run("docker", func(t *testing.T) { testLogs(t, dockertest.Start(t), false) })
	t.Run("podman", func(t *testing.T) { testLogs(t, dockertest.StartPodman(t), true) })
}

// writer is a container that writes to its streams.
type writer struct {
	name, out, err string
	times          int
	change         func(*container.Config, *container.HostConfig)
}

// start starts it.
func (w writer) start(t *testing.T, engine *dockertest.Daemon) string {
	t.Helper()
	config := &container.Config{
		Image: "app:1", Env: []string{"DB_PASSWORD=correct horse\nbattery staple", "TOKEN=t0ps3cret"},
		Cmd: []string{"write", strconv.Quote(w.out), strconv.Quote(w.err), strconv.Itoa(max(w.times, 1))},
	}
	host := &container.HostConfig{NetworkMode: network.NetworkNone}
	if w.change != nil {
		w.change(config, host)
	}
	made, err := engine.API.ContainerCreate(t.Context(), config, host, nil, nil, w.name)
	check(t, err)
	check(t, engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	return made.ID
}

// testLogs reads the logs of an engine, which may have only the end of a line that it keeps in several parts.
func testLogs(t *testing.T, engine *dockertest.Daemon, endsOnly bool) {
	engine.Image(t, "app:1")
	d := watch(t, Options{Connection: Connection{Socket: engine.Host}, Logs: true})
	// until reads a log until it has a text.
	until := func(t *testing.T, id string, lines int, text string) []watcher.LogLine {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for {
			got, err := d.ReadLog(t.Context(), watcher.LogRequest{ContainerID: id, Lines: lines})
			if err != nil && !(endsOnly && strings.Contains(err.Error(), "is not a valid container log line")) {
				t.Fatal(err) // Podman takes a line that is written just then for that
			}
			for _, line := range got.Lines {
				if strings.Contains(line.Text, text) {
					return got.Lines
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("no line has %q: %+v", text, got.Lines)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	t.Run("streams", func(t *testing.T) {
		before := time.Now().Add(-time.Minute)
		id := writer{name: "streams", out: "to output\n", err: "\x1b[31mto error\x1b[0m \x1b]0;title\x07\n"}.start(t, engine)
		until(t, id, 9, "to output")
		got := until(t, id, 9, "to error")
		if len(got) != 2 {
			t.Fatalf("got %+v", got)
		}
		for _, line := range got {
			want := map[bool]string{false: "to output", true: "to error "}[line.Stderr]
			if line.Text != want || line.At.Before(before) || line.At.After(time.Now().Add(time.Minute)) {
				t.Errorf("got %+v, want %q", line, want)
			}
		}
	})
	t.Run("terminal", func(t *testing.T) {
		id := writer{name: "terminal", out: "one\ntwo\n", change: func(c *container.Config, _ *container.HostConfig) {
			c.Tty = true
		}}.start(t, engine)
		got := until(t, id, 9, "two")
		if len(got) != 2 || got[0].Text != "one" || got[1].Text != "two" || got[0].At.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("secrets", func(t *testing.T) {
		id := writer{name: "secrets", out: "with t0ps3cret\npassword=hunter22\nwith correct horse\nbattery staple\nend\n"}.start(t, engine)
		for _, line := range until(t, id, 9, "end") {
			for _, secret := range []string{"t0ps3cret", "hunter22", "correct horse", "battery staple"} {
				if strings.Contains(line.Text, secret) {
					t.Errorf("%q has a secret", line.Text)
				}
			}
		}
	})
	t.Run("long line", func(t *testing.T) {
		id := writer{name: "long", out: strings.Repeat("x", 50_000) + " t0ps3cret\nend\n"}.start(t, engine)
		got := until(t, id, 9, "end")
		want := strings.Repeat("x", 8<<10) + "…"
		if len(got) != 2 || got[0].Text != want && !(endsOnly && strings.HasSuffix(got[0].Text, "x ***")) {
			t.Errorf("got %d lines, the first of %d bytes", len(got), len(got[0].Text))
		}
	})
	t.Run("many lines", func(t *testing.T) {
		// Of two streams an engine may keep the lines of one long after those of the other.
		id := writer{name: "many", out: strings.Repeat("y", 700) + "\n", times: 5_000}.start(t, engine)
		var all []watcher.LogLine
		size := 0
		for deadline := time.Now().Add(20 * time.Second); size < 32<<10 && time.Now().Before(deadline); {
			all, size = until(t, id, 1000, "y"), 0
			for _, line := range all {
				size += len(line.Text)
			}
		}
		if size > 64<<10 || size < 32<<10 || len(all) > watcher.MaxLogLines {
			t.Errorf("got %d lines of %d bytes", len(all), size)
		}
		if got := until(t, id, 5, "y"); len(got) != 5 {
			t.Errorf("got %d lines", len(got))
		}
	})
	t.Run("binary", func(t *testing.T) {
		id := writer{name: "binary", out: "a\xff\x00\x01b\u202ec\td\r\nend\n"}.start(t, engine)
		got := until(t, id, 9, "end")
		if want := "a\uFFFDbc d"; got[0].Text != want {
			t.Errorf("got %q, want %q", got[0].Text, want)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		id := writer{name: "stopped", out: "last words\n"}.start(t, engine)
		until(t, id, 9, "last words")
		check(t, engine.API.ContainerStop(t.Context(), id, container.StopOptions{}))
		until(t, id, 9, "last words")
	})
	t.Run("nothing", func(t *testing.T) {
		id := writer{name: "nothing"}.start(t, engine)
		if got, err := d.ReadLog(t.Context(), watcher.LogRequest{ContainerID: id, Lines: 9}); err != nil ||
			len(got.Lines) > 0 || got.UnreadableDriver != "" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("driver", func(t *testing.T) {
		id := writer{name: "silent", out: "x\n", change: func(_ *container.Config, h *container.HostConfig) {
			h.LogConfig.Type = "none"
		}}.start(t, engine)
		if got, err := d.ReadLog(t.Context(), watcher.LogRequest{ContainerID: id, Lines: 9}); err != nil ||
			len(got.Lines) > 0 || got.UnreadableDriver != "none" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		for _, id := range []string{"gone", "../images", "streams/json?x="} {
			_, err := d.ReadLog(t.Context(), watcher.LogRequest{ContainerID: id, Lines: 9})
			if !errors.Is(err, sdk.ErrNotFound) {
				t.Errorf("%s: got %v", id, err)
			}
		}
	})
	t.Run("forbidden", func(t *testing.T) {
		off := watch(t, Options{Connection: Connection{Socket: engine.Host}})
		_, err := off.ReadLog(t.Context(), watcher.LogRequest{ContainerID: "streams", Lines: 9})
		if !errors.Is(err, sdk.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "option logs") {
			t.Errorf("got %v", err)
		}
	})
}
