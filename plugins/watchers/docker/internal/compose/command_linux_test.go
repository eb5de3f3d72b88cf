package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script returns a command that is a shell script instead of compose.
func script(t *testing.T, text string) Command {
	t.Helper()
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Command{
		Tool: []string{tool, "compose"}, Project: "home", Service: "web", Files: []string{"a.yml", "b.yml"},
		WorkingDir: dir, EnvFiles: []string{"my.env"}, Scale: 3,
	}
}

func TestCommandNamesTheProject(t *testing.T) {
	c := script(t, `echo "$@"`)
	for want, args := range map[string][]string{
		"up --no-deps --no-build --detach --pull never --scale web=3 web":   c.Up(true),
		"up --no-deps --no-build --no-start --pull never --scale web=3 web": c.Up(false),
		"up --no-deps --no-build --detach web": Command{
			Tool: []string{"docker-compose"}, Service: "web", Scale: 1, First: true,
		}.Up(true),
	} {
		out, err := c.Run(t.Context(), "unix:///x", nil, args...)
		want = "compose --project-name home --project-directory " + c.WorkingDir +
			" --file a.yml --file b.yml --env-file my.env " + want
		if err != nil || out != want {
			t.Errorf("called with %s, %v, want %s", out, err, want)
		}
	}
}

// TestCommandNamesTheProfiles of the service, without which Compose 2 says no hash of it.
func TestCommandNamesTheProfiles(t *testing.T) {
	c := script(t, `echo "web $(echo "$@" | sha256sum | cut -d' ' -f1)"; echo "$@" >args`)
	c.Profiles = Project{Service: "web", Files: []string{"a", "b"}}.Profiles(func(path string) ([]byte, error) {
		text := "services: {web: {profiles: [&n night, day], extends: base}, base: {profiles: [*n]}, other: {profiles: [x]}}"
		if path == "b" {
			text = "services: {web: {profiles: [weekend]}, other: {}}"
		}
		return []byte(text), nil
	})
	if _, err := c.Hash(t.Context(), "unix:///x"); err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(c.WorkingDir, "args"))
	want := " --profile day --profile night --profile weekend config --hash web\n"
	if err != nil || !strings.HasSuffix(string(args), want) {
		t.Errorf("called with %s, %v, want %s", args, err, want)
	}
}

func TestCommandHidesSecrets(t *testing.T) {
	t.Setenv("DOGWATCH_TOKEN", "geheim-token")
	c := script(t, `env; printf '\033[31mERROR\033[0m: invalid: %s\n' geheimnis >&2; exit 3`)
	out, err := c.Run(t.Context(), "unix:///x", []string{"geheimnis"}, "up")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") ||
		!strings.Contains(err.Error(), "ERROR: invalid: ***") {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{out, err.Error()} {
		if strings.Contains(text, "geheim") || !strings.Contains(text, "DOCKER_HOST=unix:///x") {
			t.Errorf("the output is %s", text)
		}
	}
}

func TestCommandEndsWithItsGroup(t *testing.T) {
	c := script(t, `sleep 60 & echo $! >pid; wait`)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	path := filepath.Join(c.WorkingDir, "pid")
	go func() {
		for ctx.Err() == nil {
			if text, _ := os.ReadFile(path); len(text) > 0 {
				cancel(stop)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := c.Run(ctx, "unix:///x", nil, "up"); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
		if errors.Is(syscall.Kill(child, 0), syscall.ESRCH) || err == nil && strings.Contains(string(status), ") Z ") {
			return
		}
		if time.Since(began) > 5*time.Second {
			t.Fatalf("process %d runs on", child)
		}
	}
}

func TestCommandKeepsTheEndOfItsOutput(t *testing.T) {
	c := script(t, `head -c 100000 /dev/zero | tr '\0' x; echo; echo last`)
	if out, err := c.Run(t.Context(), "unix:///x", nil, "up"); err != nil || len(out) > outputLimit ||
		!strings.HasSuffix(out, "last") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestHashOfAService(t *testing.T) {
	hash := strings.Repeat("0f", 32)
	c := script(t, "echo 'other "+strings.Repeat("1", 64)+"'; echo 'web "+hash+"'")
	if got, err := c.Hash(t.Context(), "unix:///x"); err != nil || got != hash {
		t.Errorf("got %s, %v", got, err)
	}
	c = script(t, "echo web nothing")
	if got, err := c.Hash(t.Context(), "unix:///x"); err == nil {
		t.Errorf("got %s", got)
	}
}
