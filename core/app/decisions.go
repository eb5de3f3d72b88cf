package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/automatic"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// rules returns the rules of containers.
func (a *App) rules() *wiring.Policies {
	return &wiring.Policies{Config: a.reloader.Current, PolicyOf: wiring.PolicyOf(a.components), Presets: &a.presets}
}

// subjects returns what the updates of containers are decided with.
func (a *App) subjects() wiring.Subjects {
	return wiring.Subjects{
		Store: a.store, Rules: a.rules().Rules, Facts: a.updateFacts, Choices: a.choices.Of,
		ZoneName: func() string { return a.reloader.Current().Policy.Zone },
	}
}

// updateFacts returns what a decision about the update of a container depends on besides rules and choices.
func (a *App) updateFacts(c sdk.Container) (f policy.Facts) {
	f.Pins = true
	if a.scans != nil {
		f.Compared = func(to policy.Candidate) (vulnerability.Summary, bool) { return a.scans.Compared(&c, to) }
		f.HoldAdded, _ = vulnerability.ParseSeverity(a.opt.Config.Scan.Hold)
		f.HoldSource = "scan.hold"
	}
	if c.Base != nil {
		f.Rebuild = true
		return f
	}
	for _, w := range a.components.Watchers() {
		if w.Name == c.Watcher {
			f.MayUpdate, _ = w.Updates()
			f.MayUpdate = f.MayUpdate && w.Can(kind.CapUpdate)
			f.Remedy = w.UpdateRemedy()
		}
	}
	if !f.MayUpdate {
		return f
	}
	f.CameBack = func(candidate policy.Candidate) bool {
		trial, is := a.tried(&c, candidate)
		return is && trial.Undone == nil
	}
	f.RolledBack = func(candidate policy.Candidate) (policy.Rollback, bool) {
		trial, is := a.tried(&c, candidate)
		if !is || trial.Undone == nil {
			return policy.Rollback{}, false
		}
		back := policy.Rollback(*trial.Undone)
		if back.By == auth.AnonymousName {
			back.By = ""
		}
		return back, true
	}
	f.Stopped = func() policy.Stop {
		stop, err := automatic.StoppedBy(context.Background(), a.store, wiring.Containers{Store: a.store}.Shared(), &c)
		if err != nil {
			a.log.Warn("read whether the stack of a container is stopped", "container", c.Name, "error", err)
		}
		return stop
	}
	return f
}

func (a *App) tried(c *sdk.Container, candidate policy.Candidate) (operation.Trial, bool) {
	trial, is, err := a.updater.Tried(context.Background(), candidateKey(c, candidate))
	if err != nil {
		a.log.Warn("read whether an update was tried before", "container", c.Name, "error", err)
	}
	return trial, is
}

// candidateKey returns the key of the update of a container to a candidate.
func candidateKey(c *sdk.Container, to policy.Candidate) update.Key {
	is := *c
	is.UpdateKind = sdk.UpdateKind{Kind: to.Kind, LocalValue: c.Watched().Tag.Value, RemoteValue: to.Tag}
	if to.Kind == sdk.KindDigest {
		is.UpdateKind.LocalValue, is.UpdateKind.RemoteValue = c.Watched().Digest.Value, to.Digest
	}
	is.Result = &sdk.Result{Tag: to.Tag, Digest: to.Digest}
	return update.KeyOf(&is)
}

// decideAgain decides again what becomes of updates, as a user made a choice. That is
// stored: if it cannot be decided now, the loop tries until it can.
func (a *App) decideAgain(ctx context.Context) {
	if err := a.decisions.Redecide(ctx); err != nil {
		a.log.Error("a choice is stored, and decided about later", "error", err)
		a.decisions.Wake()
	}
}

// decide has updates decided again whenever it is time, until ctx ends.
func (a *App) decide(ctx context.Context) error {
	// The rules of a container depend on its watcher.
	if a.components.Await(ctx, kind.Watcher) != nil {
		return nil
	}
	return a.decisions.Run(ctx)
}
