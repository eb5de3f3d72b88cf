package hostlimit

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// server is a registry that works on so many requests at a time, each of which takes the same time; the others wait.
type server struct {
	workers chan struct{}
	takes   time.Duration
	// refuses makes it refuse what would have to wait.
	refuses bool

	mu              sync.Mutex
	underWay, most  int
	answers, denied int
}

func newServer(workers int) *server {
	return &server{workers: make(chan struct{}, workers), takes: 30 * time.Millisecond}
}

func (s *server) count(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay += by
	s.most = max(s.most, s.underWay)
}

func (s *server) request(ctx context.Context) error {
	s.count(1)
	defer s.count(-1)
	sdk.Requested(ctx, "registry.example", 1)
	if s.refuses {
		select {
		case s.workers <- struct{}{}:
		default:
			time.Sleep(time.Millisecond)
			s.mu.Lock()
			s.denied++
			s.mu.Unlock()
			sdk.Answered(ctx, sdk.Load{Throttled: true})
			return nil // its plugin has asked again, and had an answer
		}
	} else {
		s.workers <- struct{}{}
	}
	time.Sleep(s.takes)
	<-s.workers
	s.mu.Lock()
	s.answers++
	s.mu.Unlock()
	return nil
}

func newLimiter(most int) *Limiter {
	return New(Options{
		PerHost: most, Total: 1000, Budget: budget.NewBook(nil, time.Now), Now: time.Now, APIOf: noRegistry,
	})
}

// check asks n questions, by as many workers as there may be at a time.
func (l *Limiter) check(t *testing.T, n int, request func(context.Context) error) {
	t.Helper()
	var wait sync.WaitGroup
	queue := make(chan int, n)
	for i := range n {
		queue <- i
	}
	close(queue)
	for range l.opt.PerHost {
		wait.Go(func() {
			for range queue {
				_ = l.Do(t.Context(), "registry.example", false, request)
			}
		})
	}
	wait.Wait()
}

// TestConcurrencyGrowsWhileAnswersStayFast reaches the maximum as slow start does, so that 67 questions take five
// rounds, where a limit of eight took nine.
func TestConcurrencyGrowsWhileAnswersStayFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLimiter(32), newServer(1000)
		began := time.Now()
		l.check(t, 67, s.request)
		if took := time.Since(began); took > 4*s.takes {
			t.Errorf("67 questions took %s, %d at a time", took, s.most)
		}
		l.check(t, 300, s.request)
		if s.most != 32 || l.Concurrency()["registry.example"] != 32 {
			t.Errorf("%d requests at a time, the limit is %v; want both to be the maximum", s.most, l.Concurrency())
		}
	})
}

// TestConcurrencyConvergesToWhatAHostCanDo: the limit stays near what the host works on at a time, over several
// checks, and what waits there stays short.
func TestConcurrencyConvergesToWhatAHostCanDo(t *testing.T) {
	for _, workers := range []int{8, 12, 16, 24, 40} {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLimiter(64), newServer(workers)
			for check := range 5 {
				began, most := time.Now(), 0
				var late int
				l.check(t, 2000, func(ctx context.Context) error {
					asked := time.Now()
					_ = s.request(ctx)
					s.mu.Lock()
					defer s.mu.Unlock()
					if most = max(most, l.Concurrency()["registry.example"]); time.Since(asked) > 3*s.takes {
						late++
					}
					return nil
				})
				limit := l.Concurrency()["registry.example"]
				t.Logf("%d workers, check %d: limit %d, at most %d, %d late, took %s", workers, check, limit, most, late,
					time.Since(began))
				if limit < workers*3/4 || limit > workers*2 || most > 4*workers {
					t.Errorf("%d workers: the limit is %d, and was %d at most", workers, limit, most)
				}
				if late > 2000/20 {
					t.Errorf("%d workers: %d of 2000 questions took over three times as long as one", workers, late)
				}
				if ideal := 2000 * s.takes / time.Duration(workers); time.Since(began) > ideal*5/4 {
					t.Errorf("%d workers: a check took %s, want %s", workers, time.Since(began), ideal)
				}
				time.Sleep(time.Hour)
			}
		})
	}
}

// TestConcurrencyHalvesOnceForABurst: all requests under way are refused, which is one sign and not thirty-two.
func TestConcurrencyHalvesOnceForABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLimiter(32), newServer(1000)
		l.check(t, 500, s.request)
		for want := 16; want >= 1; want /= 2 {
			l.check(t, 2*want, func(ctx context.Context) error {
				time.Sleep(s.takes)
				sdk.Answered(ctx, sdk.Load{Throttled: true})
				return nil
			})
			if got := l.Concurrency()["registry.example"]; got != want {
				t.Fatalf("after a burst of refusals the limit is %d, want %d", got, want)
			}
		}
		l.check(t, 20, func(ctx context.Context) error {
			sdk.Answered(ctx, sdk.Load{Throttled: true})
			return nil
		})
		if got := l.Concurrency()["registry.example"]; got != 1 {
			t.Errorf("the limit is %d, want 1", got)
		}
		l.check(t, 2000, s.request)
		if got := l.Concurrency()["registry.example"]; got < 16 {
			t.Errorf("after 2000 answers the limit is %d", got)
		}
	})
}

// TestConcurrencyHeedsRefusals stays below what the host refuses, most of the time.
func TestConcurrencyHeedsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLimiter(64), newServer(6)
		s.refuses = true
		l.check(t, 3000, s.request)
		if limit := l.Concurrency()["registry.example"]; limit > 8 || s.denied > 3000/10 {
			t.Errorf("the limit is %d, %d of 3000 were refused", limit, s.denied)
		}
	})
}

// TestConcurrencyAdaptsToASlowerNetwork: what takes three times as long for good is no slow-down for ever.
func TestConcurrencyAdaptsToASlowerNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLimiter(32), newServer(1000)
		l.check(t, 500, s.request)
		s.takes = 90 * time.Millisecond
		l.check(t, 3000, s.request)
		if limit := l.Concurrency()["registry.example"]; limit != 32 {
			t.Errorf("the limit is %d", limit)
		}
	})
}

// TestConcurrencyIgnoresWhatIsNoAnswer: neither what a user ends nor a mistake says how much a host can do.
func TestConcurrencyIgnoresWhatIsNoAnswer(t *testing.T) {
	for name, fails := range map[string]error{
		"not found": sdk.ErrNotFound, "refused login": sdk.ErrUnauthorized, "unavailable": sdk.ErrUnavailable,
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(32)
			l.check(t, 100, func(context.Context) error {
				time.Sleep(time.Second)
				return fails
			})
			if got := l.Concurrency()["registry.example"]; got != startLimit {
				t.Errorf("%s: the limit is %d", name, got)
			}
		})
	}
}

// TestConcurrencyStaysWithinItsBounds, whatever happens in whatever order, and gives back every slot.
func TestConcurrencyStaysWithinItsBounds(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			most := 1 + r.IntN(64)
			l := newLimiter(most)
			h := l.host("registry.example")
			var wait sync.WaitGroup
			var mu sync.Mutex
			underWay, highest := 0, 0
			pick := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return r.IntN(n)
			}
			for range 300 {
				wait.Go(func() {
					time.Sleep(time.Duration(pick(5000)) * time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+pick(4000))*time.Millisecond)
					defer cancel()
					_ = l.Do(ctx, "registry.example", false, func(ctx context.Context) error {
						mu.Lock()
						underWay++
						highest = max(highest, underWay)
						mu.Unlock()
						defer func() {
							mu.Lock()
							underWay--
							mu.Unlock()
						}()
						time.Sleep(time.Duration(pick(200)) * time.Millisecond)
						switch pick(30) {
						case 0:
							sdk.Answered(ctx, sdk.Load{Throttled: true})
						case 1:
							return sdk.ErrNotFound
						case 2:
							return sdk.RateLimited(time.Millisecond, errors.New("too many"))
						}
						if n := h.now(); n < 1 || n > most {
							t.Errorf("the limit is %d of %d", n, most)
						}
						return nil
					})
				})
			}
			wait.Wait()
			if highest > most {
				t.Errorf("%d requests at a time, want %d at most", highest, most)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.underWay != 0 || len(h.waiting) != 0 {
				t.Errorf("%d slots are taken and %d wait when all is done", h.underWay, len(h.waiting))
			}
		})
	}
}

// TestConcurrencyIsOfTheHostOfTheAPI: several hosts of images behind one mirror get no more than it does.
func TestConcurrencyIsOfTheHostOfTheAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(1000)
		l := New(Options{
			PerHost: 8, Total: 1000, Budget: budget.NewBook(nil, time.Now), Now: time.Now,
			APIOf: func(string) (string, string, bool) { return "custom.mirror", "Mirror.example", true },
		})
		var wait sync.WaitGroup
		for _, host := range []string{"docker.io", "ghcr.io", "quay.io"} {
			for range 20 {
				wait.Go(func() { _ = l.Do(t.Context(), host, false, s.request) })
			}
		}
		wait.Wait()
		if s.most != 8 || s.answers != 60 {
			t.Errorf("%d requests at a time, %d answers", s.most, s.answers)
		}
	})
}
