// Package dockertest starts a real engine for a test, a dockerd or Podman's service, with
// its own data, socket and no network, next to any other on the machine. It needs root
// and the programs dockerd, containerd and runc, or podman, conmon and runc.
//
//	d := dockertest.Start(t) // or StartPodman
//	image := d.Image(t, "app:1")
//	id := d.Run(t, "web", "app:1", map[string]string{"dogwatch.watch": "true"})
//	// d.Host is the address for the watcher's option "socket"; d.API asks for anything else.
//
// Everything ends with the test. Images are made from scratch around a small static
// program, so nothing is downloaded.
package dockertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

const (
	startLimit = time.Minute
	stopLimit  = 30 * time.Second
	tidyLimit  = 5 * time.Second
	// starts is how often a daemon that exits while it starts is started again.
	starts = 3
)

// Daemon is a running engine.
type Daemon struct {
	// Host is its address: "unix:///…/docker.sock".
	Host string
	// API is a client of it.
	API *client.Client

	dir string
	// serve returns the command that serves the engine at Host.
	serve func() *exec.Cmd
	// cli returns the podman command; nil for a dockerd.
	cli     func(args ...string) *exec.Cmd
	command *exec.Cmd
	exited  chan struct{} // closed when the process has ended
}

// Start starts a Docker Engine that ends with the test. The test is skipped where there
// can be none, and fails there if the environment's DOGWATCH_TEST_REQUIRE lists "docker".
// DOGWATCH_TEST_DOCKERD is the dockerd to use, if not the first in PATH: another version
// of the engine, with the same containerd and runc.
func Start(t testing.TB) *Daemon {
	t.Helper()
	program := cmp.Or(os.Getenv("DOGWATCH_TEST_DOCKERD"), "dockerd")
	need(t, "docker", program, "containerd", "runc")
	d := prepare(t)
	// The machine's own configuration is for another daemon.
	config := filepath.Join(d.dir, "config.json")
	check(t, os.WriteFile(config, []byte("{}"), 0o600))
	d.serve = func() *exec.Cmd {
		return exec.Command(program,
			"--data-root", filepath.Join(d.dir, "data"), "--exec-root", filepath.Join(d.dir, "exec"), "--pidfile", d.pidPath(),
			"--host", d.Host, "--config-file", config,
			"--bridge", "none", "--iptables=false")
	}
	d.run(t)
	return d
}

// need skips the test, or fails it, where the programs of an engine cannot run.
func need(t testing.TB, what string, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			plugintest.Skip(t, what, err)
		}
	}
	if os.Geteuid() != 0 {
		plugintest.Skip(t, what, programs[0]+" needs root")
	}
}

// prepare makes the folder, the address and the client of an engine that does not run yet.
func prepare(t testing.TB) *Daemon {
	t.Helper()
	// The paths of unix sockets are limited to 107 characters, which t.TempDir exceeds.
	dir, err := os.MkdirTemp("", "dw")
	check(t, err)
	check(t, own(dir))
	sweep(t)
	d := &Daemon{Host: "unix://" + filepath.Join(dir, "engine.sock"), dir: dir}
	t.Cleanup(func() {
		unmount(t, dir)
		removeBridges(t, dir)
		err := os.RemoveAll(dir)
		// What tidies up after Podman's containers outlives the service for a moment.
		for began := time.Now(); err != nil && time.Since(began) < tidyLimit; err = os.RemoveAll(dir) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Logf("the engine left something behind: %v", err)
		}
	})
	d.API, err = client.NewClientWithOpts(client.WithHost(d.Host), client.WithAPIVersionNegotiation())
	check(t, err)
	return d
}

// run starts the engine and ends it with the test.
func (d *Daemon) run(t testing.TB) {
	t.Helper()
	d.Start(t)
	t.Cleanup(func() {
		d.removeAll(t)
		d.Stop(t)
		check(t, d.API.Close())
	})
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Stop stops the engine, leaving its data; the containers of a dockerd stop with it,
// those of Podman run on. An engine that exited before that is reported in the test's log.
func (d *Daemon) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-d.exited:
		t.Logf("daemon gone: it died by itself (%s)\n%s", d.command.ProcessState, d.log())
		return
	default:
	}
	check(t, d.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-d.exited:
	case <-time.After(stopLimit):
		t.Logf("the engine does not stop, killing it")
		check(t, d.command.Process.Kill())
		<-d.exited
	}
}

// Kill kills the engine, leaving its data and, until the next start, what it runs.
func (d *Daemon) Kill(t testing.TB) {
	t.Helper()
	check(t, d.command.Process.Kill())
	<-d.exited
	// Its containerd exited with it; the next one must not wait for that.
	check(t, os.RemoveAll(filepath.Join(d.dir, "exec", "containerd", "containerd.pid")))
}

// Pause has the engine hang, connections and all, until Resume. What it runs goes on.
func (d *Daemon) Pause(t testing.TB) {
	t.Helper()
	check(t, d.command.Process.Signal(syscall.SIGSTOP))
}

// Resume lets a paused engine go on, with the requests that came meanwhile.
func (d *Daemon) Resume(t testing.TB) {
	t.Helper()
	check(t, d.command.Process.Signal(syscall.SIGCONT))
}

// Restart stops the engine and starts it again over the same data, at the same address.
func (d *Daemon) Restart(t testing.TB) {
	t.Helper()
	d.Stop(t)
	d.Start(t)
}

// Start starts a stopped engine again over the same data, at the same address.
func (d *Daemon) Start(t testing.TB) {
	t.Helper()
	var err error
	for range starts {
		if err = d.try(t); err == nil {
			return
		}
		t.Logf("start the engine: %v", err)
	}
	t.Fatalf("start the engine: %v\n%s", err, d.log())
}

func (d *Daemon) try(t testing.TB) error {
	t.Helper()
	log, err := os.OpenFile(d.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(t, err)
	defer log.Close()
	if err := os.Remove(d.pidPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	d.command = d.serve()
	d.command.Stdout, d.command.Stderr = log, log
	// It starts itself and others again for each container, each time to collect what its packages made first.
	d.command.Env = append(d.command.Environ(), "GOGC=400")
	d.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	check(t, d.command.Start())
	exited := make(chan struct{})
	d.exited = exited
	command := d.command
	go func() {
		defer close(exited)
		_ = command.Wait() // how it ended is in ProcessState
	}()
	return d.await(t.Context())
}

// await sends requests until the engine responds.
func (d *Daemon) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		_, err := d.API.Ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-d.exited:
			return fmt.Errorf("daemon gone: %s", d.command.ProcessState)
		case <-ctx.Done():
			killed := d.command.Process.Kill()
			<-d.exited
			return errors.Join(fmt.Errorf("no answer within %s: %w", startLimit, err), killed)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *Daemon) pidPath() string { return filepath.Join(d.dir, "pid") }
func (d *Daemon) logPath() string { return filepath.Join(d.dir, "log") }

// log is the end of what the daemon wrote.
func (d *Daemon) log() string {
	content, err := os.ReadFile(d.logPath())
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-4096):])
}

// removeAll removes the containers and networks, which would outlive the daemon's data.
func (d *Daemon) removeAll(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	all, err := d.API.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		t.Logf("clean up: %v", err)
	}
	for _, c := range all {
		if err := d.API.ContainerRemove(ctx, c.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Logf("clean up: %v", err)
		}
	}
	networks, err := d.API.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(filters.Arg("type", "custom"))})
	if err != nil {
		t.Logf("clean up: %v", err)
	}
	for _, n := range networks {
		if err := d.API.NetworkRemove(ctx, n.ID); err != nil {
			t.Logf("clean up: %v", err)
		}
	}
}

// Swarm makes the engine the manager of a swarm of its own, which it leaves at the end of the test.
func (d *Daemon) Swarm(t testing.TB) {
	t.Helper()
	_, err := d.API.SwarmInit(t.Context(), swarm.InitRequest{AdvertiseAddr: "127.0.0.1", ListenAddr: "127.0.0.1:0"})
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := d.API.SwarmLeave(ctx, true); err != nil {
			t.Logf("clean up: %v", err)
		}
	})
}
