package dispatch

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

var errKilled = errors.New("the process was killed")

// killable is the store as a process sees it that is killed at some point: from
// then on nothing it does reaches the file. The real store is below it.
type killable struct {
	Store
	steps  atomic.Int64 // until it is killed
	lossy  bool         // it may be killed between a call and the record of its outcome
	killed atomic.Bool
	refuse atomic.Bool // writes fail for a while
	claims atomic.Int64
}

// killedAfter returns the view of a process that is killed after n steps.
func killedAfter(n int64, s Store) *killable {
	m := &killable{Store: s}
	m.steps.Store(n)
	return m
}

func (m *killable) kill() { m.killed.Store(true) }

// step is one thing done before or after which the process may be killed.
func (m *killable) step() error {
	if m.steps.Add(-1) < 0 {
		m.killed.Store(true)
	}
	if m.killed.Load() {
		return errKilled
	}
	return nil
}

func (m *killable) write() error {
	if m.refuse.Load() {
		return errors.New("disk full")
	}
	return m.step()
}

func (m *killable) Events(ctx context.Context, after int64, limit int) ([]event.Event, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	return m.Store.Events(ctx, after, limit)
}

func (m *killable) Cursor(ctx context.Context, reader string) (int64, error) {
	if m.killed.Load() || m.Store == nil {
		return 0, errKilled
	}
	return m.Store.Cursor(ctx, reader)
}

func (m *killable) NextDue(ctx context.Context, triggers ...string) (time.Time, bool, error) {
	if m.killed.Load() || m.Store == nil {
		return time.Time{}, false, errKilled
	}
	return m.Store.NextDue(ctx, triggers...)
}

func (m *killable) Plan(ctx context.Context, reader string, cursor int64, ds []delivery.Delivery) (int, error) {
	if err := m.write(); err != nil {
		return 0, err
	}
	n, err := m.Store.Plan(ctx, reader, cursor, ds)
	return n, errors.Join(err, m.step()) // it may be killed before it knows
}

func (m *killable) Claim(ctx context.Context, id string, now time.Time) (delivery.Delivery, bool, error) {
	m.claims.Add(1)
	if err := m.write(); err != nil {
		return delivery.Delivery{}, false, err
	}
	d, ok, err := m.Store.Claim(ctx, id, now)
	if err := m.step(); err != nil {
		return delivery.Delivery{}, false, err
	}
	return d, ok, err
}

func (m *killable) Begin(ctx context.Context, d delivery.Delivery) (delivery.Delivery, error) {
	if err := m.write(); err != nil {
		return delivery.Delivery{}, err
	}
	return m.Store.Begin(ctx, d)
}

func (m *killable) Finish(ctx context.Context, id int64, outcome delivery.Outcome, ev ...event.Event) error {
	if strings.Contains(outcome.Error, errKilled.Error()) {
		return errKilled
	}
	if err := m.write(); err != nil && (m.lossy || !errors.Is(err, errKilled)) {
		return err
	}
	return errors.Join(m.Store.Finish(ctx, id, outcome, ev...), m.step())
}

func (m *killable) Recover(ctx context.Context, outcome func(delivery.Delivery) delivery.Outcome) (int, error) {
	if m.Store == nil {
		return 0, nil
	}
	if err := m.write(); err != nil {
		return 0, err
	}
	n, err := m.Store.Recover(ctx, outcome)
	return n, errors.Join(err, m.step())
}

// effects counts what reached the other side of a trigger, by offer.
type effects struct {
	mu      sync.Mutex
	r       *rand.Rand
	lossy   bool // outcomes get lost, too
	process *killable
	counts  map[string]int
}

// in moves the trigger to another process.
func (e *effects) in(process *killable, lossy bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.process, e.lossy = process, lossy
}

func offer(c sdk.Container) string { return c.Name + " " + c.Result.Tag }

func (e *effects) reply(_ context.Context, _ int, req trigger.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process.killed.Load() {
		return errKilled
	}
	switch p := e.r.IntN(10); {
	case p == 0: // surely not done
		return sdk.WithKind(errNotStarted, errDown)
	case p == 1: // refused for now, surely not done either; an action gives up
		return sdk.RateLimited(time.Duration(e.r.IntN(30))*time.Second, errors.New("slow down"))
	case p == 2 && e.lossy: // done or not, who knows
		if e.r.IntN(2) == 0 {
			return errDown
		}
		e.done(req)
		return errDown
	}
	e.done(req)
	if e.lossy && e.r.IntN(10) == 0 {
		e.process.kill() // done, and the process is killed before it records that
	}
	return nil
}

func (e *effects) done(req trigger.Request) {
	for _, c := range req.Containers {
		e.counts[offer(c)]++
	}
}

var lives = flag.Uint64("lives", 6, "how many random lives of a host to play, of each sort")

// TestDeliveryUnderAnyCrash plays random lives of a host: checks that find
// updates, again and again; triggers that fail; the process killed at any step.
// In the end every offer that stands has reached a trigger
//   - exactly once, if every outcome was definite and no call was cut off;
//   - at least once, if messages may be repeated;
//   - at most once, if actions may not.
func TestDeliveryUnderAnyCrash(t *testing.T) {
	seeds := *lives
	for _, lossy := range []bool{false, true} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("lossy=%t/%d", lossy, seed), func(t *testing.T) {
				bubble(t, func(t *testing.T) { live(t, rand.New(rand.NewPCG(seed, 7)), lossy) })
			})
		}
	}
}

func live(t *testing.T, r *rand.Rand, lossy bool) {
	side := func(change ...func(*Trigger)) (Trigger, *effects) {
		tr, s := simple(t, fmt.Sprintf("t.%d", r.Uint32()), change...)
		e := &effects{r: rand.New(rand.NewPCG(r.Uint64(), 1)), counts: map[string]int{}}
		s.reply = e.reply
		return tr, e
	}
	mail, single := side()
	chat, grouped := side(batch)
	act, acted := side(action)
	all := []*effects{single, grouped, acted}
	b := open(t, mail, chat, act)
	b.stop()

	boot := func(steps int64, lossy bool) {
		b.start(func(s Store) Store {
			process := killedAfter(steps, s)
			process.lossy = lossy
			for _, e := range all {
				e.in(process, lossy)
			}
			return process
		})
	}
	versions := map[string]int{}
	name := func(i int) string { return fmt.Sprint("c", i) }
	current := func(i int) sdk.Container {
		return withUpdate(name(i), "1.0.0", fmt.Sprintf("1.%d.0", versions[name(i)]), "minor")
	}
	for range 4 + r.IntN(6) {
		boot(int64(r.IntN(60)), lossy)
		for range r.IntN(4) {
			var found, known []sdk.Container
			for i := range 6 {
				switch r.IntN(4) {
				case 0:
					if lossy || versions[name(i)] == 0 { // a newer offer makes an older one moot
						versions[name(i)]++
					}
					found = append(found, current(i))
				case 1:
					if versions[name(i)] > 0 {
						found = append(found, current(i)) // found again
					}
				case 2:
					if versions[name(i)] > 0 {
						known = append(known, current(i))
					}
				}
			}
			b.checked(found, known...)
			settle(time.Duration(r.IntN(40)) * time.Second)
		}
		b.stop()
	}
	boot(1<<40, false)
	for range 100 { // until nothing waits for another try
		settle(10 * time.Minute)
		if _, waiting, err := b.store.NextDue(t.Context()); err != nil || !waiting {
			break
		}
	}
	defer func() { b.stop() }()

	for i := range 6 {
		if versions[name(i)] == 0 {
			continue
		}
		o := offer(current(i))
		switch n := single.counts[o]; {
		case n == 0:
			t.Errorf("message about %s is lost", o)
		case n > 1 && !lossy:
			t.Errorf("message about %s was sent %d times", o, n)
		}
	}
	for o, n := range acted.counts {
		if n > 1 {
			t.Errorf("action on %s was done %d times", o, n)
		}
	}
	for _, tr := range []Trigger{mail, chat, act} {
		for _, d := range b.deliveries(tr.ID) {
			if d.State == delivery.Pending || d.State == delivery.Sending {
				t.Errorf("%s %s is %s in the end", d.Trigger, d.Subject, d.State)
			}
			if d.State == delivery.Failed && !tr.AtMostOnce {
				t.Errorf("%s %s was given up: %s", d.Trigger, d.Subject, d.Error)
			}
		}
	}
}
