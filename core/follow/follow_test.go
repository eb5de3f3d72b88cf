package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// place is a world with a log, as the store is.
type place struct {
	bus event.Bus

	mu         sync.Mutex
	containers map[string]*sdk.Container
	events     []event.Event
	broken     error
	ran        []string
}

func newPlace() *place { return &place{containers: map[string]*sdk.Container{}} }

func (p *place) options(log io.Writer) Options {
	return Options{
		Containers: p.all, Watchers: func() []string { return []string{"local", "remote"} }, Events: p, Bus: &p.bus,
		Run: p.run, Log: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug}),
	}
}

func (p *place) all() []*sdk.Container {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*sdk.Container
	for _, c := range p.containers {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *sdk.Container) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (p *place) LastEvent(context.Context) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(len(p.events)), p.broken
}

func (p *place) Events(_ context.Context, after int64, limit int) ([]event.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	page := p.events[after:]
	return slices.Clone(page[:min(limit, len(page))]), p.broken
}

func (p *place) run(_ context.Context, triggerID, containerID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran = append(p.ran, triggerID+" "+containerID)
	if containerID == "nosuch" {
		return sdk.ErrNotFound
	}
	return nil
}

// change does something to the containers and tells the readers of the log.
func (p *place) change(do func(map[string]*sdk.Container)) {
	p.mu.Lock()
	do(p.containers)
	p.mu.Unlock()
	p.bus.Wake()
}

func (p *place) put(cs ...sdk.Container) {
	p.change(func(all map[string]*sdk.Container) {
		for _, c := range cs {
			all[c.ID] = &c
		}
	})
}

func (p *place) remove(ids ...string) {
	p.change(func(all map[string]*sdk.Container) {
		for _, id := range ids {
			delete(all, id)
		}
	})
}

func (p *place) log(t event.Type, watcher string, single bool) {
	p.mu.Lock()
	p.events = append(p.events, event.Event{ID: int64(len(p.events) + 1), Type: t, Payload: event.Payload{Check: &event.Check{Watcher: watcher, Single: single}}})
	p.mu.Unlock()
	p.bus.Wake()
}

func container(id, name string) sdk.Container {
	return sdk.Container{ID: id, Name: name, Watcher: "local"}
}

// reader is a follower that a test steps through: each take asks for a change.
type reader struct {
	take  chan chan trigger.Change
	calls chan trigger.World
	end   chan error
}

func newReader() *reader {
	return &reader{take: make(chan chan trigger.Change), calls: make(chan trigger.World, 10), end: make(chan error)}
}

func (r *reader) follower() Follower {
	return Follower{ID: "mqtt.main", MayRun: true, Usable: func() bool { return true }, Follow: r.follow}
}

func (r *reader) follow(ctx context.Context, w trigger.World) error {
	r.calls <- w
	for {
		select {
		case to := <-r.take:
			c, err := w.Next(ctx)
			if err != nil {
				return err
			}
			to <- c
		case err := <-r.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ask asks for the next change and returns where it will arrive.
func (r *reader) ask() <-chan trigger.Change {
	to := make(chan trigger.Change, 1)
	r.take <- to
	return to
}

// summary writes a change as a line of text.
func summary(c trigger.Change) string {
	var parts []string
	if c.All {
		parts = append(parts, "all")
	}
	list := func(sign string, all []sdk.Container) {
		var names []string
		for _, is := range all {
			names = append(names, sign+is.ID+":"+is.Name)
		}
		slices.Sort(names)
		parts = append(parts, names...)
	}
	list("-", c.Removed)
	list("+", c.Put)
	for _, w := range c.Watchers {
		parts = append(parts, fmt.Sprintf("%s=%v", w.Name, w.Checking))
	}
	return strings.Join(parts, " ")
}

// following runs a hub with one follower in a bubble.
func following(t *testing.T, p *place, test func(r *reader, log *strings.Builder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		h, err := New(t.Context(), p.options(&log))
		if err != nil {
			t.Fatal(err)
		}
		r := newReader()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx, func(context.Context) []Follower { return []Follower{r.follower()} }) }()
		test(r, &log)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func want(t *testing.T, got <-chan trigger.Change, line string) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-got:
		if summary(c) != line {
			t.Errorf("told %q, want %q", summary(c), line)
		}
	default:
		t.Errorf("told nothing, want %q", line)
	}
}

func wantNothing(t *testing.T, got <-chan trigger.Change) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-got:
		t.Errorf("told %q, want nothing", summary(c))
	default:
	}
}

func TestAFollowerIsToldWhatDiffers(t *testing.T) {
	p := newPlace()
	p.put(container("1", "nginx"), container("2", "redis"))
	following(t, p, func(r *reader, _ *strings.Builder) {
		want(t, r.ask(), "all +1:nginx +2:redis local=false remote=false")
		next := r.ask()
		wantNothing(t, next)
		p.put(container("3", "traefik"))
		want(t, next, "+3:traefik")

		next = r.ask()
		checked := container("3", "traefik")
		checked.Check.At = sdk.TimeOf(time.Now())
		p.put(checked)
		wantNothing(t, next) // that it was checked is no change
		checked.Result, checked.UpdateAvailable = &sdk.Result{Tag: "2.0"}, true
		p.put(checked)
		want(t, next, "+3:traefik")
		next = r.ask()
		checked.Result = &sdk.Result{Tag: "2.0", Created: sdk.TimeOf(time.Now())}
		p.put(checked)
		wantNothing(t, next) // nor that its update has got a date
		checked.Status = "exited"
		p.put(checked)
		want(t, next, "+3:traefik")

		p.remove("1")
		want(t, r.ask(), "-1:nginx")
		p.put(container("2", "redis.old"), container("4", "redis"))
		want(t, r.ask(), "-2:redis +2:redis.old +4:redis")

		p.log(event.CheckStarted, "remote", false)
		want(t, r.ask(), "remote=true")
		next = r.ask()
		p.log(event.CheckStarted, "local", true)
		p.log(event.CheckFinished, "local", true)
		wantNothing(t, next) // of one container only
		p.log(event.CheckFailed, "remote", false)
		want(t, next, "remote=false")
	})
}

// However much happens while a follower is busy, it is told the outcome, once.
func TestASlowFollowerIsToldTheLatestOnly(t *testing.T) {
	p := newPlace()
	following(t, p, func(r *reader, _ *strings.Builder) {
		want(t, r.ask(), "all local=false remote=false")
		for i := range 1000 {
			c := container(fmt.Sprint(i%3), "app")
			c.Status = fmt.Sprint(i)
			p.put(c)
			p.log(event.CheckStarted, "local", false)
			p.log(event.CheckFinished, "local", false)
		}
		p.remove("1")
		synctest.Wait()
		want(t, r.ask(), "+0:app +2:app")
		wantNothing(t, r.ask())
	})
}

func TestAFollowerThatBeginsAnewIsToldEverything(t *testing.T) {
	p := newPlace()
	p.put(container("1", "nginx"), container("2", "redis"), container("3", "gone before anyone asked"))
	following(t, p, func(r *reader, log *strings.Builder) {
		p.remove("3")
		want(t, r.ask(), "all -3:gone before anyone asked +1:nginx +2:redis local=false remote=false")
		again := func(err error) {
			t.Helper()
			<-r.calls
			r.end <- err
			synctest.Wait()
			time.Sleep(longestPause)
			synctest.Wait()
		}
		again(errors.New("as asked")) // it may not have taken what it was told
		p.remove("1")
		want(t, r.ask(), "all -1:nginx -3:gone before anyone asked +2:redis local=false remote=false")
		p.put(container("1", "nginx"))
		want(t, r.ask(), "+1:nginx") // that it asked shows that it took the rest
		again(sdk.ErrUnavailable)
		want(t, r.ask(), "all +1:nginx +2:redis local=false remote=false")
		if got := log.String(); strings.Count(got, "[WARN]") != 1 || !strings.Contains(got, "as asked") || !strings.Contains(got, "trigger=mqtt.main") {
			t.Errorf("the log is %s", got)
		}
	})
}

func TestAFollowerThatFailsIsLeftAloneForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace()
		h, err := New(t.Context(), p.options(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		var calls []time.Duration
		var usable atomic.Bool
		usable.Store(true)
		began := time.Now()
		f := Follower{Usable: usable.Load, Follow: func(context.Context, trigger.World) error {
			calls = append(calls, time.Since(began))
			return errors.New("as asked")
		}}
		sleep := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx, func(context.Context) []Follower { return []Follower{f} }) }()
		sleep(10 * time.Second)
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}; !slices.Equal(calls, want) {
			t.Errorf("called at %v, want %v", calls, want)
		}
		usable.Store(false)
		sleep(time.Hour)
		if len(calls) != 4 {
			t.Errorf("called %d times although it cannot be used", len(calls))
		}
		usable.Store(true)
		sleep(longestPause)
		if len(calls) != 5 {
			t.Errorf("called %d times since it can be used again", len(calls)-4)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutFollowersNothingIsRead(t *testing.T) {
	p := newPlace()
	h, err := New(t.Context(), p.options(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context(), func(context.Context) []Follower { return nil }); err != nil {
		t.Error(err)
	}
}

func TestABrokenLogIsSurvived(t *testing.T) {
	p := newPlace()
	following(t, p, func(r *reader, log *strings.Builder) {
		want(t, r.ask(), "all local=false remote=false")
		next := r.ask()
		p.mu.Lock()
		p.broken = errors.New("disk full")
		p.mu.Unlock()
		p.put(container("1", "nginx"))
		want(t, next, "+1:nginx")
		if !strings.Contains(log.String(), "disk full") {
			t.Errorf("the log is %s", log)
		}
	})
	if _, err := New(t.Context(), p.options(io.Discard)); err == nil {
		t.Error("a hub that does not know where the log stands")
	}
}

func TestAFollowerRunsOtherTriggersIfItMay(t *testing.T) {
	p := newPlace()
	following(t, p, func(r *reader, log *strings.Builder) {
		w := <-r.calls
		if err := w.Run(t.Context(), "docker.local", "1"); err != nil {
			t.Error(err)
		}
		if err := w.Run(t.Context(), "docker.local", "nosuch"); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if want := []string{"docker.local 1", "docker.local nosuch"}; !slices.Equal(p.ran, want) {
			t.Errorf("ran %q, want %q", p.ran, want)
		}
		if got := log.String(); strings.Count(got, "[ERROR]") != 1 || !strings.Contains(got, "by=mqtt.main") {
			t.Errorf("the log is %s", got)
		}
		w.(*view).follower.MayRun = false
		if err := w.Run(t.Context(), "docker.local", "1"); err == nil || len(p.ran) != 2 {
			t.Errorf("a follower without the capability: got %v", err)
		}
	})
}

func BenchmarkChange(b *testing.B) {
	p := newPlace()
	for i := range 200 {
		c := container(fmt.Sprint(i), fmt.Sprint("app", i))
		c.Labels = map[string]string{"a": "b"}
		p.put(c)
	}
	h, err := New(b.Context(), p.options(io.Discard))
	if err != nil {
		b.Fatal(err)
	}
	v := newView(h, Follower{})
	v.begin()
	for i := 0; b.Loop(); i++ {
		c := container("7", "app7")
		c.Status = fmt.Sprint(i)
		p.put(c)
		if _, err := v.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
