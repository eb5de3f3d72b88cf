// Package automatic begins the updates that were decided to be carried out automatically:
// by a rule, or since a user approved them. It stores nothing: which updates were
// begun, and how they ended, are operations, and each of those carries what it was begun for.
//
// Of one stack one update runs at a time, what others depend on first. One that does not
// work out keeps the rest of its stack from being updated, until something newer is found
// there, a user approves it, or updates by hand what has failed.
package automatic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	defaultAtOnce = 2
	// minPause is the wait after a first failure, which doubles up to maxPause.
	minPause = time.Minute
	maxPause = time.Hour
	// openOperations is far more than can be under way.
	openOperations = 1000
	// memberOperations is how many of the latest operations of a container are read.
	memberOperations = 20
)

// Operations reads operations, the newest first.
type Operations interface {
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
}

// Updater begins operations; see updater.Runner.
type Updater interface {
	Start(ctx context.Context, req updater.Request) (operation.Operation, error)
}

// Options configure a Runner.
type Options struct {
	// Containers returns what is stored now. It must not be changed.
	Containers func() []*sdk.Container
	// Choices returns what users decided about a container, by its subject.
	Choices    func(subject string) []choice.Choice
	Operations Operations
	Updater    Updater
	// Scanned returns whether an update that a rule wants may begin as far as the
	// vulnerabilities of its image are concerned.
	Scanned func(c *sdk.Container) scan.Verdict
	Bus     *event.Bus
	// Decide has it decided again what becomes of updates; see StoppedBy. It may be nil.
	Decide func(ctx context.Context)
	// Preload is how long before a window opens the images are pulled of the updates that are carried
	// out then; zero for not at all. Follows reports whether an update is carried out at a time.
	Preload time.Duration
	Follows func(ctx context.Context, c *sdk.Container, at time.Time) bool
	// AtOnce is how many of these operations have not ended at the same time; below 1 means 2.
	AtOnce int
	// Redact blanks secrets in errors.
	Redact func(string) string
	Log    hclog.Logger
	Now    func() time.Time
}

// Runner begins operations. Its Run is to be called once.
type Runner struct {
	opt Options
	log hclog.Logger
	// refused are the updates that could not be begun, by what they are begun for.
	refused map[string]failedStart
	// unpulled are the images that could not be pulled, by idempotency key, until when they are not tried again.
	unpulled map[string]time.Time
	// stale is whether a decision does not say by now that its stack is stopped, or says so still.
	stale bool
}

// failedStart is when and how often an update could not be begun.
type failedStart struct {
	until time.Time
	count int
	// alone is true if the rest of the stack need not wait for it: nothing that passes by
	// itself keeps it from being updated.
	alone bool
}

// New returns a Runner.
func New(opt Options) *Runner {
	if opt.AtOnce < 1 {
		opt.AtOnce = defaultAtOnce
	}
	return &Runner{
		opt: opt, log: opt.Log.Named("automatic"), refused: map[string]failedStart{}, unpulled: map[string]time.Time{},
	}
}

// Run begins updates until ctx ends. What is stored must have been decided since the
// start of the program: rules may have changed before.
func (r *Runner) Run(ctx context.Context) error {
	sub := r.opt.Bus.Subscribe() // before anything is read, so that no commit is missed
	defer sub.Close()
	for ctx.Err() == nil {
		next, err := r.pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Error("begin automatic updates", "error", r.opt.Redact(err.Error()))
			next = r.opt.Now().Add(minPause)
		}
		wait, cancel := ctx, func() {}
		if !next.IsZero() {
			wait, cancel = context.WithTimeout(ctx, max(next.Sub(r.opt.Now()), time.Millisecond))
		}
		_ = sub.Wait(wait) // either way it is time to look again
		cancel()
	}
	return nil
}

// pass begins what may begin now. It returns when to look again if nothing happens until
// then; zero for never.
func (r *Runner) pass(ctx context.Context) (next time.Time, err error) {
	now := r.opt.Now()
	containers := r.opt.Containers()
	if next, err = r.preload(ctx, containers, now); err != nil {
		return next, err
	}
	stacks := stacksOf(containers, now)
	r.forget(stacks)
	if len(stacks) == 0 {
		return next, nil
	}
	open, err := r.opt.Operations.Operations(ctx, operation.Filter{
		States: []operation.State{operation.Queued, operation.Running}, Limit: openOperations,
	})
	if err != nil {
		return next, fmt.Errorf("read the operations under way: %w", err)
	}
	room := r.opt.AtOnce
	for _, op := range open {
		if isAutomatic(op) {
			room--
		}
	}
	r.stale = false
	defer func() {
		if r.stale && r.opt.Decide != nil && ctx.Err() == nil {
			r.opt.Decide(ctx)
		}
	}()
	for _, stack := range stacks {
		if room <= 0 || ctx.Err() != nil {
			break // the end of an operation wakes
		}
		started, again, err := r.advance(ctx, stack, now)
		if err != nil {
			return next, err
		}
		if started {
			room--
		}
		if !again.IsZero() && (next.IsZero() || again.Before(next)) {
			next = again
		}
	}
	return next, nil
}

// advance begins the next update of a stack, if it may begin. It returns when
// to try again what could not be begun.
func (r *Runner) advance(
	ctx context.Context, stack []*sdk.Container, now time.Time,
) (started bool, again time.Time, err error) {
	members, err := membersOf(ctx, r.opt.Operations, stack)
	if err != nil {
		return false, again, err
	}
	operations := map[string][]operation.Operation{}
	for _, m := range members {
		if len(m.operations) > 0 && !m.operations[0].State.Ended() {
			return false, again, nil
		}
		operations[m.container.ID] = m.operations
	}
	for _, c := range stack {
		stop := stopFor(c, members)
		if isStopped(c) && (stop.Name == "" || c.Decision.OfferedAt.After(stop.At)) {
			r.stale = true // what has failed was updated by hand, say
		}
		if !isDue(c, now) {
			continue
		}
		begin := r.purpose(c)
		tried := startedFor(operations[c.ID], begin)
		switch {
		case len(tried) > 0 && !mayRetry(tried[0], tried), carriedOut(operations[c.ID], begin):
			continue // done, or failed
		case stop.Name != "" && !begin.decided.After(stop.At):
			r.log.Info("held: "+stop.String(), "container", event.Subject(*c), "stack", c.Stack)
			r.stale = true
			continue
		case len(tried) > 0:
			if retry := tried[0].Ended.Add(pauseAfter(len(tried))); retry.After(now) {
				return false, retry, nil
			}
			begin.attempt = len(tried) + 1
		}
		if refused := r.refused[begin.String()]; refused.until.After(now) {
			if again.IsZero() || refused.until.Before(again) {
				again = refused.until
			}
			if refused.alone {
				continue
			}
			return false, again, nil
		}
		if predecessor, err := r.isPredecessor(ctx, c); err != nil {
			return false, again, err
		} else if predecessor {
			continue
		}
		verdict := r.verdict(c, begin)
		if !verdict.Ready {
			if verdict.Again.IsZero() {
				return false, again, nil
			}
			if again.IsZero() || verdict.Again.Before(again) {
				again = verdict.Again
			}
			continue
		}
		started, refused := r.begin(ctx, c, begin, verdict.Digest, now)
		if !refused.until.IsZero() && (again.IsZero() || refused.until.Before(again)) {
			again = refused.until
		}
		if started || !refused.alone {
			return started, again, nil
		}
	}
	return false, again, nil
}

// verdict returns whether an update may begin as far as the vulnerabilities of its image are concerned. A user who
// approves has looked.
func (r *Runner) verdict(c *sdk.Container, p purpose) scan.Verdict {
	if !p.approved.IsZero() {
		return scan.Verdict{Ready: true}
	}
	return r.opt.Scanned(c)
}

// isPredecessor reports whether a container is the old one of an operation: it is listed
// under another name while it is being replaced, and afterwards if it is kept. After an
// operation that did not work out it may still be stored under that name, which has the
// id of the operation.
func (r *Runner) isPredecessor(ctx context.Context, c *sdk.Container) (bool, error) {
	all, err := r.opt.Operations.Operations(ctx, operation.Filter{
		Watcher: c.Watcher, ContainerID: c.ID, Limit: memberOperations,
	})
	if err != nil {
		return false, fmt.Errorf("read the operations of %s: %w", event.Subject(*c), err)
	}
	return slices.ContainsFunc(all, func(op operation.Operation) bool {
		return op.Name != c.Name && (!op.State.Ended() || op.State == operation.Succeeded || strings.Contains(c.Name, op.ID))
	}), nil
}

// begin begins one update, to the image of a digest if that is not "". If it cannot begin now, it returns when to try
// again; that
// is zero if something else has to happen before.
func (r *Runner) begin(
	ctx context.Context, c *sdk.Container, p purpose, digest string, now time.Time,
) (started bool, refused failedStart) {
	op, err := r.opt.Updater.Start(ctx, updater.Request{
		Container: *c, Kind: operation.Update, Actor: p.actor, IdempotencyKey: p.String(), Digest: digest, Resolved: true,
	})
	if err == nil {
		delete(r.refused, p.String())
		r.log.Info("an automatic update begins", "container", event.Subject(*c), "version", c.UpdateKind.RemoteValue,
			"operation", op.ID, "by", p.actor)
		return true, refused
	}
	if ctx.Err() != nil || errors.Is(err, updater.ErrStopping) || errors.Is(err, updater.ErrConflict) {
		return false, refused // the end of the other operation wakes
	}
	refused = r.refused[p.String()]
	refused.count++
	refused.until = now.Add(pauseAfter(refused.count))
	refused.alone = errors.Is(err, updater.ErrBlocked) || errors.Is(err, updater.ErrForbidden) ||
		errors.Is(err, updater.ErrUnsupported) || errors.Is(err, updater.ErrNoUpdate) ||
		isDogwatch(c) // an agent that is not connected keeps no other from being updated
	r.refused[p.String()] = refused
	r.log.Warn("an automatic update cannot begin", "container", event.Subject(*c), "version", c.UpdateKind.RemoteValue,
		"error", r.opt.Redact(err.Error()), "again", refused.until)
	return false, refused
}

// forget drops what is known of updates that are no longer due.
func (r *Runner) forget(stacks [][]*sdk.Container) {
	if len(r.refused) == 0 {
		return
	}
	due := map[string]failedStart{}
	for _, c := range slices.Concat(stacks...) {
		for key, refused := range r.refused {
			if refusedFor(key, r.purpose(c)) {
				due[key] = refused
			}
		}
	}
	r.refused = due
}

// isDue reports whether the update of a container is to be carried out now. A decision that
// time has overtaken is made again soon.
func isDue(c *sdk.Container, now time.Time) bool {
	d := c.Decision
	return c.UpdateAvailable && d != nil && d.State == sdk.StateAutomatic && (d.Until.IsZero() || now.Before(d.Until.Time))
}

// mayRetry reports whether the latest of some operations ended for a reason that may be
// gone later, and few enough of the same purpose did.
func mayRetry(latest operation.Operation, all []operation.Operation) bool {
	if !latest.MayRetry() {
		return false
	}
	same := 0
	for _, op := range all {
		if sameButAttempt(op.IdempotencyKey, latest.IdempotencyKey) {
			same++
		}
	}
	return same < operation.MaxAttempts
}

func pauseAfter(failures int) time.Duration {
	return backoff.Pauses{First: minPause, Longest: maxPause}.After(failures)
}

// decided returns when it was decided last that a container is updated.
func decided(c *sdk.Container, approval *choice.Choice) time.Time {
	offered := c.Decision.OfferedAt.Time
	if approval != nil && approval.At.After(offered) {
		offered = approval.At.Time
	}
	return offered
}

// actorOf returns on whose behalf a container is updated: the user who approved it, or a rule.
func actorOf(c *sdk.Container) string {
	rule := "a rule"
	for _, reason := range c.Decision.Reasons {
		switch reason.Code {
		case policy.ReasonApproved:
			return reason.Source
		case policy.ReasonAutomatic:
			rule = "rule " + cmp.Or(reason.Source, "auto")
		}
	}
	return rule
}
