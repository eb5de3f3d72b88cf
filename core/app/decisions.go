package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/automatic"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// layers returns what gives containers their rules.
func (a *App) layers() *decision.Layers {
	return &decision.Layers{Config: a.reloader.Current, PolicyOf: wiring.PolicyOf(a.components), Presets: &a.presets}
}

// policies implements service.Policies.
type policies struct {
	*decision.Decisions
	*decision.Layers
}

// facts returns where the facts about updates come from.
func (a *App) facts(c sdk.Container) policy.Facts {
	hold, _ := vulnerability.ParseSeverity(a.opt.Config.Scan.Hold)
	return decision.Facts{
		Compared:   a.scans.Compared,
		HoldAdded:  hold,
		HoldSource: "scan.hold",
		MayUpdate:  a.mayUpdate,
		Tried:      a.tried,
		Stopped:    a.stopped,
	}.Of(c)
}

func (a *App) mayUpdate(watcher string) (may bool, remedy string) {
	w, known := a.components.WatcherNamed(watcher)
	if !known {
		return false, ""
	}
	may, _ = w.Updates()
	return may && w.Can(kind.CapUpdate), w.UpdateRemedy()
}

func (a *App) tried(c *sdk.Container, key update.Key) (policy.Trial, bool) {
	trial, tried, err := a.updater.Tried(context.Background(), key)
	if err != nil {
		a.log.Warn("read whether an update was tried before", "container", c.Name, "error", err)
	}
	if !tried || trial.Undone == nil {
		return policy.Trial{Ended: trial.Ended}, tried
	}
	back := policy.Rollback(*trial.Undone)
	if back.By == auth.AnonymousName {
		back.By = ""
	}
	return policy.Trial{Ended: trial.Ended, Undone: &back}, true
}

func (a *App) stopped(c *sdk.Container) policy.Stop {
	stop, err := automatic.StoppedBy(context.Background(), a.store, wiring.Containers{Store: a.store}.Shared(), c)
	if err != nil {
		a.log.Warn("read whether the stack of a container is stopped", "container", c.Name, "error", err)
	}
	return stop
}
