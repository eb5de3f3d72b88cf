package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// fake is a program in place of systemctl, which writes down how it was called.
func fake(t *testing.T, script string) (path, calls string) {
	t.Helper()
	path, calls = filepath.Join(t.TempDir(), "systemctl"), filepath.Join(t.TempDir(), "calls")
	text := "#!/bin/sh\nfor word in \"$@\"; do printf '<%s>' \"$word\" >>'" + calls + "'; done\necho >>'" + calls +
		"'\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, calls
}

func settings(t *testing.T, script string) map[string]any {
	path, _ := fake(t, script)
	return map[string]any{"units": "nginx=nginx.service,local/redis=redis.service", "systemctl": path}
}

const working = `case "$*" in *show*) echo LoadState=loaded;; esac`

func TestConformance(t *testing.T) {
	failing := func(script string) func(*testing.T) map[string]any {
		return func(t *testing.T) map[string]any { return settings(t, script) }
	}
	triggertest.Run(t, systemdType(), triggertest.Case{
		Options: failing(working),
		Hanging: func(t *testing.T, reached func()) map[string]any {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			opened := make(chan struct{})
			go func() {
				defer close(opened)
				f, err := os.Open(pipe) // waits for the program to open its end
				if err != nil {
					t.Error(err)
					return
				}
				reached()
				f.Close()
			}()
			t.Cleanup(func() { <-opened })
			return settings(t, "echo >'"+pipe+"'; exec sleep 600")
		},
		Failing: []triggertest.Failure{
			{Name: "exit code", Options: failing("echo 'Job for nginx.service failed.' >&2; exit 1")},
			{
				Name: "refused", Kind: sdk.ErrUnauthorized,
				Options: failing("echo 'Failed to restart nginx.service: Access denied' >&2; exit 4"),
			},
			{
				Name: "no systemd", Kind: sdk.ErrUnavailable,
				Options: failing(`echo "System has not been booted with systemd as init system (PID 1). Can't operate." >&2; exit 1`),
			},
			{Name: "timeout", Options: func(t *testing.T) map[string]any {
				options := settings(t, "exec sleep 600")
				options["timeout"] = "20ms"
				return options
			}},
		},
		Invalid: []triggertest.Invalid{
			{Field: "units", Set: map[string]any{"units": "nginx"}},
			{Field: "units", Set: map[string]any{"units": "nginx=--force"}},
			{Field: "units", Set: map[string]any{"units": "nginx=a.service,nginx=b.service"}},
			{Field: "systemctl", Set: map[string]any{"systemctl": "/no/such/systemctl"}},
			{Field: "timeout", Set: map[string]any{"timeout": "0"}},
		},
	})
}

// TestUnitsAreThoseOfTheOptions: whatever a container is called, no other unit and no shell is reached.
func TestUnitsAreThoseOfTheOptions(t *testing.T) {
	for name, c := range map[string]struct {
		containers []string
		action     string
		want       string
	}{
		"one":                {[]string{"nginx"}, "restart", "<restart><nginx.service>"},
		"start":              {[]string{"nginx"}, "start", "<start><nginx.service>"},
		"named with watcher": {[]string{"redis"}, "restart", "<restart><redis.service>"},
		"a batch, each once": {[]string{"nginx", "redis", "nginx"}, "restart",
			"<restart><nginx.service>\n<restart><redis.service>"},
		"not listed":          {[]string{"traefik"}, "restart", ""},
		"like a unit":         {[]string{"nginx.service", "--force", "../nginx"}, "restart", ""},
		"words for the shell": {[]string{"nginx; reboot", "$(reboot)", "`reboot`", "nginx\nreboot"}, "restart", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, calls := fake(t, working)
			run := plugintest.Trigger(t, systemdType(), map[string]any{
				"units":     "nginx = nginx.service, local/redis=redis.service, other/traefik=traefik.service",
				"systemctl": path, "action": c.action,
			}).Run
			if err := run(t.Context(), triggertest.Request(c.containers...)); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(calls)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(strings.TrimSpace(string(got)), "<--no-ask-password><--no-pager>", "")
			if text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestOneFailureLeavesTheOthersAlone(t *testing.T) {
	path, calls := fake(t, `case "$*" in *nginx*) echo "Job for nginx.service failed." >&2; exit 1;; esac`)
	run := plugintest.Trigger(t, systemdType(), map[string]any{
		"units": "nginx=nginx.service,redis=redis.service", "systemctl": path,
	}).Run
	err := run(t.Context(), triggertest.Request("nginx", "redis"))
	if err == nil || !strings.Contains(err.Error(), "unit nginx.service: Job for nginx.service failed.") {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(calls); !strings.Contains(string(got), "<restart><redis.service>") {
		t.Errorf("the other unit was not restarted: %s", got)
	}
}

func TestSampleMessageRunsNothing(t *testing.T) {
	for state, want := range map[string]error{"loaded": nil, "not-found": sdk.ErrNotFound} {
		path, calls := fake(t, "echo LoadState="+state)
		run := plugintest.Trigger(t, systemdType(), map[string]any{
			"units": "nginx=nginx.service", "systemctl": path, "user": true,
		}).Run
		req := triggertest.Request("nginx")
		req.Test = true
		if err := run(t.Context(), req); !errors.Is(err, want) {
			t.Errorf("%s: got %v", state, err)
		}
		got, _ := os.ReadFile(calls)
		if want := "<--no-ask-password><--no-pager><--user><show><--property=LoadState><nginx.service>\n"; string(got) != want {
			t.Errorf("called %q, want %q", got, want)
		}
	}
}
