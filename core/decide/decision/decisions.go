// Package decision decides what becomes of updates, offered, held or automatic, and stores that. Decisions are the
// only owner of what checks have found and of the lock under which containers change: Apply decides by the answers of
// registries, Redecide by what is known already, and Run redecides whenever it is time. Layers resolve the rules of a
// container, Choices keep what users chose; package policy weighs them.
package decision

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
)

// Store has the containers. Commit stores containers and events together or not at all.
type Store interface {
	// Containers returns every stored container, of all watchers.
	Containers(ctx context.Context) ([]sdk.Container, error)
	Commit(ctx context.Context, change event.Change) error
}

// Options configure Decisions.
type Options struct {
	Store Store
	// Candidates returns the versions that earlier checks found, by subject; nil when none are kept.
	Candidates func(ctx context.Context) (map[string]candidate.Found, error)
	// AlreadyNotified returns the updates that need no event, as another program
	// notified users of them before; nil when there are none.
	AlreadyNotified func(ctx context.Context) ([]update.Notified, error)
	// Rules, Facts and Choices are what updates are decided by; see policy.Decide. Each may
	// be nil, and none may wait for Decisions.
	Rules   func(sdk.Container) policy.Rules
	Facts   func(sdk.Container) policy.Facts
	Choices func(subject string) []choice.Choice
	// WriteReleaseLinks writes the release links that the labels of a container ask for, after it was decided again; nil
	// for none.
	WriteReleaseLinks func(*sdk.Container) error
	// Next returns the first time that a decision names; zero for never. Bus says when decisions may have changed.
	// Both are for Run.
	Next func() time.Time
	Bus  *event.Bus
	Log  hclog.Logger
	Now  func() time.Time
}

// Decisions are those about the updates of all containers. Its methods may be called concurrently.
type Decisions struct {
	opt  Options
	log  hclog.Logger
	loop *loop

	// commitLock is held from reading what is stored until what follows from it
	// is stored: two watchers of one engine must not both own a container. It guards what follows.
	commitLock sync.Mutex
	// found is what is known of updates, by subject; nil until it is read.
	found    map[string]candidate.Found
	backlogs map[string]backlog // by watcher
}

// New returns Decisions.
func New(opt Options) *Decisions {
	d := &Decisions{opt: opt, log: opt.Log.Named("decision"), backlogs: map[string]backlog{}}
	d.loop = &loop{
		redecide: d.Redecide, next: opt.Next, bus: opt.Bus, wake: wake.New(), log: d.log, now: opt.Now,
	}
	return d
}

// Run decides at once, as time has passed since the process before, and then whenever
// it is time, until ctx ends. It returns nil.
func (d *Decisions) Run(ctx context.Context) error { return d.loop.run(ctx) }

// Wake has updates decided at once while Run runs, as rules or what users chose have changed. It never blocks.
func (d *Decisions) Wake() { d.loop.wake.Set() }

// Rules returns the rules of a container.
func (d *Decisions) Rules(c sdk.Container) policy.Rules {
	if d.opt.Rules == nil {
		return policy.Rules{}
	}
	return d.opt.Rules(c)
}

// Chosen reports whether a user made a choice about the update of a container, by its subject.
func (d *Decisions) Chosen(subject string) bool { return len(d.choices(subject)) > 0 }

func (d *Decisions) choices(subject string) []choice.Choice {
	if d.opt.Choices == nil {
		return nil
	}
	return d.opt.Choices(subject)
}

// Decide returns what becomes of the update of a container with what was found for it. It stores nothing.
func (d *Decisions) Decide(
	c *sdk.Container, rules policy.Rules, found candidate.Found, now time.Time,
) policy.Decision {
	if len(found.Candidates) == 0 {
		return policy.Decision{Target: -1}
	}
	subject := event.Subject(*c)
	offered := policy.Update{Subject: subject, Candidates: found.Candidates}
	return policy.Decide(offered, rules, d.facts(*c), d.choices(subject), now)
}

func (d *Decisions) facts(c sdk.Container) policy.Facts {
	if d.opt.Facts == nil {
		return policy.Facts{}
	}
	return d.opt.Facts(c)
}
