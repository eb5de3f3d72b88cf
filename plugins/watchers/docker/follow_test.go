package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// following is a watcher whose events a test reads. Its pauses end when the test says so.
type following struct {
	t      *testing.T
	events chan watcher.Event
	pauses chan int // receives the attempt of each pause; the receiver ends it
	log    *lines
}

// lines is a log whose lines a test can wait for.
type lines struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // closed and replaced at each line
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.written)
	l.written = make(chan struct{})
	return l.text.Write(p)
}

func (l *lines) count(text string) int {
	n, _ := l.look(text)
	return n
}

func (l *lines) look(text string) (int, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text), l.written
}

func follow(t *testing.T, d *Docker) *following {
	t.Helper()
	f := &following{t: t, events: make(chan watcher.Event, 100), pauses: make(chan int), log: &lines{written: make(chan struct{})}}
	d.log = hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: f.log})
	d.pause = func(ctx context.Context, attempt int) error {
		select {
		case f.pauses <- attempt:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Watch(ctx, func(e watcher.Event) { f.events <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Watch returned %v", err)
		}
	})
	return f
}

func (f *following) next() watcher.Event {
	f.t.Helper()
	select {
	case e := <-f.events:
		if e.At.IsZero() {
			f.t.Errorf("event without a time: %+v", e)
		}
		return e
	case <-time.After(patience):
		f.t.Fatal("no event")
		return watcher.Event{}
	}
}

func (f *following) expect(action, id, status string) {
	f.t.Helper()
	if e := f.next(); e.Action != action || e.Status != status || e.ContainerID != id {
		f.t.Errorf("got %+v, want %s %s %s", e, action, short(id), status)
	}
}

// relist expects that the host is told to list again, for no one container.
func (f *following) relist() {
	f.t.Helper()
	f.expect(watcher.ActionChanged, "", "")
}

// endPause waits for a pause, and ends it.
func (f *following) endPause() (attempt int) {
	f.t.Helper()
	select {
	case attempt = <-f.pauses:
	case <-time.After(patience):
		f.t.Fatal("no pause")
	}
	return attempt
}

// await ends pauses until the watcher has logged a text n times.
func (f *following) await(text string, n int) {
	f.t.Helper()
	timeout := time.After(patience)
	for {
		count, more := f.log.look(text)
		if count >= n {
			return
		}
		select {
		case <-more:
		case <-f.pauses:
		case <-timeout:
			f.t.Fatalf("%q was logged %d times, want %d: %s", text, count, n, f.log.text.String())
		}
	}
}

// streams waits until the watcher follows its n-th stream.
func (f *following) streams(n int) {
	f.t.Helper()
	f.await("following events", n)
}

// populated returns an engine with the running containers "c0000" and "c0001" of the image "app".
func populated(t *testing.T, c enginesim.Config) *enginesim.Engine {
	t.Helper()
	e := enginesim.New(c)
	check(t, e.Populate(2, func(i int) string { return fmt.Sprintf("app:%d", i) }))
	return e
}
