package app

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// authorityFile is in the folder of the store. Who has it can play the controller to its agents.
const authorityFile = "agents-ca.pem"

// makeAgents makes where agents join and dial in, and has the built-in plugins know it.
func (a *App) makeAgents(ctx context.Context) (err error) {
	a.joined = wake.New()
	a.agents, err = agent.NewController(ctx, agent.ControllerOptions{
		Store:     a.store,
		Authority: filepath.Join(filepath.Dir(a.opt.Config.StoreFile()), authorityFile),
		Version:   a.opt.Version,
		Taken:     a.takenName,
		Changed:   a.joined.Set,
		Linked:    a.agentLinked,
		Log:       a.opt.Log.Named("agents"),
		Now:       a.opt.Now,
	})
	if err != nil {
		return err
	}
	a.parts.Add(parts.Part{Name: "agents", Needs: a.configured(kind.Watcher), Run: a.followAgents, Close: a.agents.Close})
	if listen := a.opt.Config.Agents.Listen; listen != "" {
		a.parts.Add(parts.Part{Name: "agents.listen", Run: func(ctx context.Context) error {
			return a.agents.Listen(ctx, listen)
		}})
	}
	a.opt.Builtins = slices.Clone(a.opt.Builtins)
	for i, b := range a.opt.Builtins {
		if b.Remote != nil {
			a.opt.Builtins[i].Remote = a.agents
		}
	}
	return nil
}

// followAgents makes watchers of agents as they join, leave or get other names, until ctx ends.
func (a *App) followAgents(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.joined:
			a.reloader.Again(ctx)
		}
	}
}

// takenName reports whether a watcher that is no agent has a name.
func (a *App) takenName(name string) bool {
	w, known := a.components.WatcherNamed(name)
	return known && w.Type != agent.TypeName
}

// agentLinked notes whether an agent is connected: how old what is known of its containers is depends on it.
func (a *App) agentLinked(name string, err error) {
	if err != nil {
		a.reached(name, err)
	} else {
		a.updater.Reached(name)
	}
	a.bus.Touch(event.ComponentChanged)
}

var _ plugin.Remote = (*agent.Controller)(nil)
