package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestOutcomeOfAttempt: what follows from each error of a trigger.
func TestOutcomeOfAttempt(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := New(Options{
		Log: hclog.NewNullLogger(), Now: func() time.Time { return at },
		NotStarted: func(err error) bool { return errors.Is(err, errNotStarted) },
	})
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	notStarted := sdk.WithKind(errNotStarted, errDown)
	refused := sdk.WithKind(sdk.ErrUnauthorized, errors.New("wrong password"))
	limited := func(after time.Duration) error { return sdk.RateLimited(after, errors.New("slow down")) }
	for _, c := range []struct {
		about    string
		err      error
		action   bool // may not be repeated
		attempts int
		stopped  bool
		state    string
		after    time.Duration // until the next try
		text     string
	}{
		{about: "ok", state: delivery.Sent},
		{about: "ok, an action", action: true, state: delivery.Sent},
		{about: "ok, though dogwatch stops", stopped: true, state: delivery.Sent},
		{
			about: "unavailable", err: errDown, attempts: 1, state: delivery.Pending, after: 10 * time.Second,
			text: "server is down",
		},
		{
			about: "unavailable, 2", err: errDown, attempts: 2, state: delivery.Pending, after: 30 * time.Second,
			text: "server is down",
		},
		{
			about: "unavailable, 3", err: errDown, attempts: 3, state: delivery.Pending, after: 2 * time.Minute,
			text: "server is down",
		},
		{
			about: "unavailable, 4", err: errDown, attempts: 4, state: delivery.Pending, after: 10 * time.Minute,
			text: "server is down",
		},
		{
			about: "unavailable, 5", err: errDown, attempts: 5, state: delivery.Pending, after: time.Hour,
			text: "server is down",
		},
		{
			about: "unavailable, 7", err: errDown, attempts: 7, state: delivery.Pending, after: 6 * time.Hour,
			text: "server is down",
		},
		{about: "unavailable, the last", err: errDown, attempts: 8, state: delivery.Failed, text: "server is down"},
		{
			about: "deadline", err: fmt.Errorf("post: %w", context.DeadlineExceeded), attempts: 1,
			state: delivery.Pending, after: 10 * time.Second, text: "deadline",
		},
		{
			about: "call cancelled by the other side", err: context.Canceled, attempts: 1, state: delivery.Pending,
			after: 10 * time.Second, text: "canceled",
		},
		{
			about: "rate limited", err: limited(time.Hour), attempts: 1, state: delivery.Pending, after: time.Hour,
			text: "slow down",
		},
		{
			about: "rate limited for less than the usual wait", err: limited(time.Second), attempts: 3,
			state: delivery.Pending, after: 2 * time.Minute, text: "slow down",
		},
		{
			about: "rate limited, no duration given", err: limited(0), attempts: 1, state: delivery.Pending,
			after: 10 * time.Second, text: "slow down",
		},
		{
			about: "rate limited for years", err: limited(9e6 * time.Second), attempts: 1, state: delivery.Pending,
			after: 24 * time.Hour, text: "slow down",
		},
		{about: "permanent", err: refused, attempts: 1, state: delivery.Failed, text: "wrong password"},
		{about: "wrong input", err: sdk.Invalid("topic", "empty"), attempts: 1, state: delivery.Failed, text: "topic: empty"},
		{about: "an error of no kind", err: errors.New("no idea"), attempts: 1, state: delivery.Failed, text: "no idea"},
		{about: "stopped", err: context.Canceled, attempts: 1, stopped: true, state: delivery.Pending, text: "canceled"},
		{
			about: "stopped at the last attempt", err: errDown, attempts: 8, stopped: true, state: delivery.Pending,
			text: "server is down",
		},
		{
			about: "action, not started", err: notStarted, action: true, attempts: 1, state: delivery.Pending,
			after: 10 * time.Second, text: "server is down",
		},
		{
			about: "action, not started, the last", err: notStarted, action: true, attempts: 8, state: delivery.Failed,
			text: "server is down",
		},
		{
			about: "action, not started, stopped", err: notStarted, action: true, attempts: 1, stopped: true,
			state: delivery.Pending, text: "server is down",
		},
		{
			about: "action, outcome lost", err: errDown, action: true, attempts: 1, state: delivery.Failed,
			text: "outcome unknown, not repeated: server is down",
		},
		{
			about: "action, deadline", err: context.DeadlineExceeded, action: true, attempts: 1, state: delivery.Failed,
			text: "outcome unknown, not repeated: ",
		},
		{
			about: "action, stopped", err: errors.New("gone"), action: true, attempts: 1, stopped: true,
			state: delivery.Failed, text: "outcome unknown, not repeated: gone",
		},
		{about: "action, refused", err: refused, action: true, attempts: 1, state: delivery.Failed, text: "wrong password"},
		{
			about: "action, rate limited", err: limited(time.Second), action: true, attempts: 1, state: delivery.Failed,
			text: "slow down",
		},
	} {
		ctx := t.Context()
		if c.stopped {
			ctx = stopped
		}
		got := d.deliverer.retries.outcome(ctx, Trigger{AtMostOnce: c.action}, delivery.Delivery{Attempts: c.attempts}, c.err)
		if got.State != c.state || c.text == "" && got.Error != "" || !strings.Contains(got.Error, c.text) {
			t.Errorf("%s: %+v", c.about, got)
		}
		if wasUnknown := strings.HasPrefix(got.Error, "outcome unknown"); wasUnknown != strings.HasPrefix(c.text,
			"outcome unknown") {
			t.Errorf("%s: %q", c.about, got.Error)
		}
		switch wait := got.NextAt.Sub(at); {
		case c.after == 0 && !got.NextAt.IsZero(), c.after > 0 && wait != c.after:
			t.Errorf("%s: next at %s, want %s from now", c.about, got.NextAt, c.after)
		}
	}
}

func TestBackoffGrows(t *testing.T) {
	waits := retryPauses()
	for i := 1; i < len(waits); i++ {
		if waits[i] <= waits[i-1] {
			t.Errorf("wait %d is not longer than the one before", i)
		}
	}
	for _, n := range []int{-1, 0, 1, 7, 8, 1000} {
		if got := retryAfter(n, errDown); got < waits[0] || got > waits[len(waits)-1] {
			t.Errorf("after attempt %d wait %s", n, got)
		}
	}
}
