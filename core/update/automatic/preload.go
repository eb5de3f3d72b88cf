package automatic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// preloads begins the key of every operation that only pulls the image of an update for which a
// window is to open. The rest is the update and, from the second attempt on, its number.
const preloads = "preload "

// preload begins to pull the images of updates that are carried out once a window opens, not
// long before that. It returns when to look again if nothing happens until then; zero for never.
func (r *Runner) preload(ctx context.Context, all []*sdk.Container, now time.Time) (next time.Time, err error) {
	if r.opt.Preload <= 0 || r.opt.Follows == nil {
		return next, nil
	}
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for key, until := range r.unpulled {
		if !until.After(now) {
			delete(r.unpulled, key)
		}
	}
	room := -1 // not known
	for _, c := range all {
		opens := opening(c)
		if !opens.After(now) {
			continue
		}
		if from := opens.Add(-r.opt.Preload); from.After(now) {
			sooner(from)
			continue
		}
		if room < 0 {
			if room, err = r.roomToPull(ctx); err != nil {
				return next, err
			}
		}
		if room <= 0 || ctx.Err() != nil {
			break // the end of an operation wakes
		}
		started, again, err := r.pull(ctx, c, opens, now)
		if err != nil {
			return next, err
		}
		if started {
			room--
		}
		sooner(again)
	}
	return next, nil
}

// opening is when the window opens that a container's update waits for; zero where it waits for none.
func opening(c *sdk.Container) time.Time {
	if d := c.Decision; c.UpdateAvailable && d != nil && d.State == sdk.StateHeld {
		for _, reason := range d.Reasons {
			if reason.Code == policy.ReasonWindow {
				return reason.Until.Time
			}
		}
	}
	return time.Time{}
}

func (r *Runner) roomToPull(ctx context.Context) (int, error) {
	filter := operation.Filter{States: []operation.State{operation.Queued, operation.Running}, Limit: openOperations}
	open, err := r.opt.Operations.Operations(ctx, filter)
	if err != nil {
		return 0, fmt.Errorf("read the operations under way: %w", err)
	}
	room := r.opt.AtOnce
	for _, op := range open {
		if strings.HasPrefix(op.IdempotencyKey, preloads) {
			room--
		}
	}
	return room, nil
}

// pull begins to pull the image of one update, unless that was done, or failed too often. It returns
// when to try again what could not be begun or failed.
func (r *Runner) pull(
	ctx context.Context, c *sdk.Container, opens, now time.Time,
) (started bool, again time.Time, err error) {
	key := preloads + r.purpose(c).update.String()
	if until := r.unpulled[key]; until.After(now) {
		return false, until, nil
	}
	filter := operation.Filter{Watcher: c.Watcher, Name: c.Name, Limit: memberOperations}
	all, err := r.opt.Operations.Operations(ctx, filter)
	if err != nil {
		return false, again, fmt.Errorf("read the operations of %s: %w", event.Subject(*c), err)
	}
	attempts := 0
	for _, op := range all {
		switch {
		case !op.State.Ended():
			return false, again, nil // its end wakes
		case op.IdempotencyKey != key && !strings.HasPrefix(op.IdempotencyKey, key+" "):
			continue
		case !op.MayRetry():
			return false, again, nil // done, or in vain
		case attempts == 0:
			again = op.Ended
		}
		attempts++
	}
	if attempts >= operation.MaxAttempts {
		return false, time.Time{}, nil
	}
	if attempts > 0 {
		if again = again.Add(pauseAfter(attempts)); again.After(now) {
			return false, again, nil
		}
		key += " " + strconv.Itoa(attempts+1)
	}
	if !r.opt.Follows(ctx, c, opens) {
		return false, time.Time{}, nil
	}
	op, err := r.opt.Updater.Start(ctx, updater.Request{
		Container: *c, Kind: operation.Update, Rules: watcher.UpdateRules{DryRun: true}, Actor: "rule updates.preload",
		IdempotencyKey: key,
	})
	version := c.UpdateKind.RemoteValue
	switch {
	case err == nil:
		r.log.Info("pulling an image before the window opens",
			"container", event.Subject(*c), "version", version, "operation", op.ID, "opens", opens)
		return true, time.Time{}, nil
	case ctx.Err() != nil, errors.Is(err, updater.ErrStopping), errors.Is(err, updater.ErrConflict):
		return false, time.Time{}, nil
	}
	again = now.Add(minPause)
	for _, lasts := range []error{updater.ErrBlocked, updater.ErrForbidden, updater.ErrUnsupported} {
		if errors.Is(err, lasts) {
			again = opens // when it is told
		}
	}
	r.unpulled[key] = again
	r.log.Warn("an image cannot be pulled before the window opens",
		"container", event.Subject(*c), "version", version, "error", r.opt.Redact(err.Error()))
	return false, again, nil
}
