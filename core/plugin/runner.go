package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/dogwatch/dogwatch/internal/sandbox"
)

// outputGrace is how long the output of a process that has ended is read: what
// it wrote last is there already, but a child that it left behind may hold the
// pipes open for ever.
const outputGrace = time.Second

// child is the process of a bundle. It implements go-plugin's runner.Runner,
// and unlike the one that go-plugin has it notices the end of the process
// itself, not of all that may hold its output.
type child struct {
	cmd            *exec.Cmd
	stdout, stderr *os.File
	// confined is what it may do.
	confined *confinement
	// started is called once the process runs; it may be nil.
	started func()
	// third is the log of a third-party bundle; nil for one that is built in.
	third hclog.Logger
	// reason is why it was ended for its limits.
	reason atomic.Pointer[error]
	// left is how many processes there still were when it had ended. Those of a third-party bundle have ended since.
	left int
	// prints takes what it prints after its handshake.
	prints io.Writer
	// exited closes when the process has ended; cmd.ProcessState is set by then.
	exited chan struct{}
	// drained closes when all that it wrote to stderr is read.
	drained chan struct{}

	mu sync.Mutex
	// stopping is true once a graceful shutdown began.
	stopping bool
	// killed is true once it was to end at once, over when it has ended, and ended when all that
	// came of it has, too.
	killed, over, ended bool
}

var _ runner.Runner = (*child)(nil)

// Start starts the process; the end of ctx does not end it.
func (c *child) Start(context.Context) error {
	stdout, itsStdout, err := os.Pipe()
	if err != nil {
		return err
	}
	defer itsStdout.Close()
	stderr, itsStderr, err := os.Pipe()
	if err != nil {
		stdout.Close()
		return err
	}
	defer itsStderr.Close()
	c.cmd.Stdout, c.cmd.Stderr = itsStdout, itsStderr
	if err := c.start(); err != nil {
		stdout.Close()
		stderr.Close()
		return err
	}
	c.stdout, c.stderr = stdout, stderr
	if c.third != nil {
		if err := c.confined.group.take(c.offspring()); err != nil {
			c.third.Warn("plugin is not limited by its control group", "error", err)
		}
	}
	go c.collect()
	if c.started != nil {
		c.started()
	}
	return nil
}

func (c *child) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return context.Canceled
	}
	if c.confined.restricted() {
		return c.confined.start(c)
	}
	// A thread that another process was started by may end with that one, and would end this one, too.
	return sandbox.Thread(c.cmd.Start, func() { <-c.exited })
}

// collect waits for the end of the process. What it started ends with it, unless
// it is built in, was shut down gracefully and left that running on purpose.
func (c *child) collect() {
	if awaitExit(c.cmd) {
		c.mu.Lock()
		c.over = true
		c.mu.Unlock()
		if c.third != nil {
			left := c.offspring().end()
			c.mu.Lock()
			c.left = left
			c.mu.Unlock()
			if c.confined.group.starved() {
				c.exceed(c.third,
					fmt.Errorf("it needed more memory than %s (plugins.limits): the kernel ended it", size(c.confined.limits.Memory)))
			}
		}
		c.mu.Lock()
		if !c.stopping {
			_ = killGroup(c.cmd)
		}
		c.ended = true // its number may be given away from now on
		c.mu.Unlock()
	}
	_ = c.cmd.Wait() // how it ended is in its state
	close(c.exited)
	time.AfterFunc(outputGrace, func() {
		c.stdout.Close()
		c.stderr.Close()
	})
}

// Wait waits until the process has ended.
func (c *child) Wait(context.Context) error {
	<-c.exited
	if state := c.cmd.ProcessState; !state.Success() {
		return fmt.Errorf("%s", state)
	}
	return nil
}

// Kill ends the process and all that it started, at once; before the start it
// prevents that. It may be called more than once.
func (c *child) Kill(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over { // by itself; what it has left behind is being ended
		return nil
	}
	c.killed = true
	if c.cmd.Process == nil || c.ended {
		return nil
	}
	return killGroup(c.cmd)
}

// offspring is the process with all that came of it. It has started.
func (c *child) offspring() *offspring { return &offspring{leader: c.pid(), c: c.confined} }

// expectEnd notes that a graceful shutdown begins.
func (c *child) expectEnd() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
}

// pid returns the process id; 0 before the start.
func (c *child) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd.Process == nil {
		return 0
	}
	return c.cmd.Process.Pid
}

// Stdout is where go-plugin reads how to reach the process.
func (c *child) Stdout() io.ReadCloser { return &firstLine{ReadCloser: c.stdout, rest: c.prints} }

// firstLine has the first line alone, and writes what follows it to rest: go-plugin reads no more
// after a line of 64 KiB, and the process would wait for ever in its next write.
type firstLine struct {
	io.ReadCloser
	rest io.Writer
	over bool
}

func (f *firstLine) Read(p []byte) (int, error) {
	for {
		n, err := f.ReadCloser.Read(p)
		if !f.over {
			if end := bytes.IndexByte(p[:n], '\n'); end >= 0 {
				f.over = true
				_, _ = f.rest.Write(p[end+1 : n])
				n = end + 1
			}
			return n, err
		}
		_, _ = f.rest.Write(p[:n])
		if err != nil {
			return 0, err
		}
	}
}

// Stderr is what the process logs.
func (c *child) Stderr() io.ReadCloser {
	return &drain{ReadCloser: c.stderr, end: sync.OnceFunc(func() { close(c.drained) })}
}

// drain calls end once there is nothing more to read.
type drain struct {
	io.ReadCloser
	end func()
}

func (d *drain) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err != nil {
		d.end()
	}
	return n, err
}

// Name is the path of the executable.
func (c *child) Name() string { return c.cmd.Path }

// ID is the process id; "" before the start.
func (c *child) ID() string {
	if pid := c.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// Diagnose says what to look at when the executable did not respond as a plugin does.
func (c *child) Diagnose(context.Context) string {
	text := fmt.Sprintf("is it a plugin of Dogwatch, built for %s/%s?", runtime.GOOS, runtime.GOARCH)
	if info, err := os.Stat(c.cmd.Path); err == nil {
		text += fmt.Sprintf(" (%s, mode %s)", c.cmd.Path, info.Mode())
	}
	return text
}

// PluginToHost and HostToPlugin return addresses as they are: both run on this machine.
func (c *child) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin is as PluginToHost.
func (c *child) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
