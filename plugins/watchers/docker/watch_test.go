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
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// maxWait bounds the waits of a test for what should happen at once.
const maxWait = 20 * time.Second

// subscription is a watcher whose events a test reads. Its pauses end when the test says so.
type subscription struct {
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

func subscribe(t *testing.T, d *Docker) *subscription {
	t.Helper()
	s := &subscription{
		t: t, events: make(chan watcher.Event, 100), pauses: make(chan int), log: &lines{written: make(chan struct{})},
	}
	d.log = hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: s.log})
	d.pause = func(ctx context.Context, attempt int) error {
		select {
		case s.pauses <- attempt:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Watch(ctx, func(e watcher.Event) { s.events <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Watch returned %v", err)
		}
	})
	return s
}

func (s *subscription) next() watcher.Event {
	s.t.Helper()
	select {
	case e := <-s.events:
		if e.At.IsZero() {
			s.t.Errorf("event without a time: %+v", e)
		}
		return e
	case <-time.After(maxWait):
		s.t.Fatal("no event")
		return watcher.Event{}
	}
}

func (s *subscription) expect(action, id, status string) {
	s.t.Helper()
	if e := s.next(); e.Action != action || e.Status != status || e.ContainerID != id {
		s.t.Errorf("got %+v, want %s %s %s", e, action, engine.Short(id), status)
	}
}

// relist expects that the host is notified to list again, for no single container.
func (s *subscription) relist() {
	s.t.Helper()
	s.expect(watcher.ActionChanged, "", "")
}

// endPause waits for a pause, and ends it.
func (s *subscription) endPause() (attempt int) {
	s.t.Helper()
	select {
	case attempt = <-s.pauses:
	case <-time.After(maxWait):
		s.t.Fatal("no pause")
	}
	return attempt
}

// await ends pauses until the watcher has logged a text n times.
func (s *subscription) await(text string, n int) {
	s.t.Helper()
	timeout := time.After(maxWait)
	for {
		count, more := s.log.look(text)
		if count >= n {
			return
		}
		select {
		case <-more:
		case <-s.pauses:
		case <-timeout:
			s.t.Fatalf("%q was logged %d times, want %d: %s", text, count, n, s.log.text.String())
		}
	}
}

// streams waits until the watcher reads its n-th stream.
func (s *subscription) streams(n int) {
	s.t.Helper()
	s.await("following events", n)
}

// populated returns an engine with the running containers "c0000" and "c0001" of the image "app".
func populated(t *testing.T, c enginesim.Config) *enginesim.Engine {
	t.Helper()
	e := enginesim.New(c)
	check(t, e.Populate(2, func(i int) string { return fmt.Sprintf("app:%d", i) }))
	return e
}
