package statestream

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

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestNextReturnsWhatDiffers(t *testing.T) {
	p := newFakeState()
	p.put(container("1", "nginx"), container("2", "redis"))
	streaming(t, p, func(r *fakeSubscriber, _ *strings.Builder) {
		want(t, r.next(), "all +1:nginx +2:redis local=false remote=false")
		pending := r.next()
		wantNothing(t, pending)
		p.put(container("3", "traefik"))
		want(t, pending, "+3:traefik")

		pending = r.next()
		checked := container("3", "traefik")
		checked.Check.At = sdk.TimeOf(time.Now())
		p.put(checked)
		wantNothing(t, pending) // that it was checked is no change
		checked.Result, checked.UpdateAvailable = &sdk.Result{Tag: "2.0"}, true
		p.put(checked)
		want(t, pending, "+3:traefik")
		pending = r.next()
		checked.Result = &sdk.Result{Tag: "2.0", Created: sdk.TimeOf(time.Now())}
		p.put(checked)
		wantNothing(t, pending) // nor that its update has got a date
		checked.Status = "exited"
		p.put(checked)
		want(t, pending, "+3:traefik")

		p.remove("1")
		want(t, r.next(), "-1:nginx")
		p.put(container("2", "redis.old"), container("4", "redis"))
		want(t, r.next(), "-2:redis +2:redis.old +4:redis")

		p.log(event.CheckStarted, "remote", false)
		want(t, r.next(), "remote=true")
		pending = r.next()
		p.log(event.CheckStarted, "local", true)
		p.log(event.CheckFinished, "local", true)
		wantNothing(t, pending) // of one container only
		p.log(event.CheckFailed, "remote", false)
		want(t, pending, "remote=false")
	})
}

// TestNextMergesChanges: however much happens while a subscriber is busy, it gets one change.
func TestNextMergesChanges(t *testing.T) {
	p := newFakeState()
	streaming(t, p, func(r *fakeSubscriber, _ *strings.Builder) {
		want(t, r.next(), "all local=false remote=false")
		for i := range 1000 {
			c := container(fmt.Sprint(i%3), "app")
			c.Status = fmt.Sprint(i)
			p.put(c)
			p.log(event.CheckStarted, "local", false)
			p.log(event.CheckFinished, "local", false)
		}
		p.remove("1")
		synctest.Wait()
		want(t, r.next(), "+0:app +2:app")
		wantNothing(t, r.next())
	})
}

func TestStreamThatBeginsAnewHoldsEverything(t *testing.T) {
	p := newFakeState()
	p.put(container("1", "nginx"), container("2", "redis"), container("3", "gone before the stream"))
	streaming(t, p, func(r *fakeSubscriber, log *strings.Builder) {
		p.remove("3")
		want(t, r.next(), "all -3:gone before the stream +1:nginx +2:redis local=false remote=false")
		restart := func(err error) {
			t.Helper()
			<-r.calls
			r.end <- err
			synctest.Wait()
			time.Sleep(maxBackoff)
			synctest.Wait()
		}
		restart(errors.New("as asked")) // it may not have taken what it was sent
		p.remove("1")
		want(t, r.next(), "all -1:nginx -3:gone before the stream +2:redis local=false remote=false")
		p.put(container("1", "nginx"))
		want(t, r.next(), "+1:nginx") // its call shows that it took the rest
		restart(sdk.ErrUnavailable)
		want(t, r.next(), "all +1:nginx +2:redis local=false remote=false")
		if got := log.String(); strings.Count(got, "[WARN]") != 1 || !strings.Contains(got, "as asked") ||
			!strings.Contains(got, "trigger=mqtt.main") {
			t.Errorf("the log is %s", got)
		}
	})
}

func TestHubCallsAFailingSubscriberWithBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFakeState()
		h, err := New(t.Context(), p.options(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		var calls []time.Duration
		var usable atomic.Bool
		usable.Store(true)
		began := time.Now()
		f := Subscriber{Usable: usable.Load, Subscribe: func(context.Context, trigger.StateStream) error {
			calls = append(calls, time.Since(began))
			return errors.New("as asked")
		}}
		sleep := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx, func(context.Context) []Subscriber { return []Subscriber{f} }) }()
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
		sleep(maxBackoff)
		if len(calls) != 5 {
			t.Errorf("called %d times since it can be used again", len(calls)-4)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestHubRenewsSubscribers: one that is configured otherwise is another one, and one
// that stays goes on with the stream it has.
func TestHubRenewsSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFakeState()
		h, err := New(t.Context(), p.options(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var log []string
		note := func(text string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, text)
		}
		subscriber := func(id string, version int) Subscriber {
			name := fmt.Sprint(id, version)
			return Subscriber{ID: id, Component: name, Usable: func() bool {
				return true
			}, Subscribe: func(ctx context.Context, _ trigger.StateStream) error {
				note("+" + name)
				<-ctx.Done()
				note("-" + name)
				return ctx.Err()
			}}
		}
		var all []Subscriber
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- h.Run(ctx, func(context.Context) []Subscriber { mu.Lock(); defer mu.Unlock(); return all })
		}()
		renew := func(next []Subscriber, want ...string) {
			t.Helper()
			mu.Lock()
			all, log = next, nil
			mu.Unlock()
			h.Renew()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if slices.Sort(log); !slices.Equal(log, want) {
				t.Errorf("got %v, want %v", log, want)
			}
		}
		renew(nil)
		renew([]Subscriber{subscriber("a", 1), subscriber("b", 1)}, "+a1", "+b1")
		renew([]Subscriber{subscriber("a", 1), subscriber("b", 2)}, "+b2", "-b1")
		renew([]Subscriber{subscriber("b", 2)}, "-a1")
		renew(nil, "-b2")
		renew([]Subscriber{subscriber("c", 1)}, "+c1")
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestHubSurvivesABrokenLog(t *testing.T) {
	p := newFakeState()
	streaming(t, p, func(r *fakeSubscriber, log *strings.Builder) {
		want(t, r.next(), "all local=false remote=false")
		pending := r.next()
		p.mu.Lock()
		p.broken = errors.New("disk full")
		p.mu.Unlock()
		p.put(container("1", "nginx"))
		want(t, pending, "+1:nginx")
		if !strings.Contains(log.String(), "disk full") {
			t.Errorf("the log is %s", log)
		}
	})
	if _, err := New(t.Context(), p.options(io.Discard)); err == nil {
		t.Error("a hub that does not know where the log stands")
	}
}

func TestSubscriberRunsOtherTriggersIfItMay(t *testing.T) {
	p := newFakeState()
	streaming(t, p, func(r *fakeSubscriber, log *strings.Builder) {
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
		w.(*view).subscriber.MayRun = false
		if err := w.Run(t.Context(), "docker.local", "1"); err == nil || len(p.ran) != 2 {
			t.Errorf("a subscriber without the capability: got %v", err)
		}
		var decided []string
		w.(*view).hub.opt.Decide = func(_ context.Context, by, containerID, action string) error {
			decided = append(decided, by+" "+containerID+" "+action)
			return nil
		}
		if err := w.(trigger.Decider).Decide(t.Context(), "1", "skip"); err == nil || decided != nil {
			t.Errorf("a subscriber without the capability decided %q, %v", decided, err)
		}
		w.(*view).subscriber.MayDecide = true
		if err := w.(trigger.Decider).Decide(t.Context(), "1", "skip"); err != nil ||
			!slices.Equal(decided, []string{"mqtt.main 1 skip"}) {
			t.Errorf("decided %q, %v", decided, err)
		}
	})
}

func BenchmarkChange(b *testing.B) {
	p := newFakeState()
	for i := range 200 {
		c := container(fmt.Sprint(i), fmt.Sprint("app", i))
		c.Labels = map[string]string{"a": "b"}
		p.put(c)
	}
	h, err := New(b.Context(), p.options(io.Discard))
	if err != nil {
		b.Fatal(err)
	}
	v := newView(h, Subscriber{})
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
