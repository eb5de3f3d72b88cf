package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/statestream"
	"github.com/dogwatch/dogwatch/core/plugin"
)

// makeNotifications makes what has triggers say what happened, and the release notes in their messages.
func (a *App) makeNotifications(context.Context) error {
	stored := wiring.Containers{Store: a.store}
	a.notes = a.makeNotes()
	a.prefetcher = notes.NewPrefetcher(a.notes, a.opt.Now)
	a.parts.Add(parts.Part{Name: "release notes", Run: a.prefetcher.Run})
	a.dispatcher = dispatch.New(dispatch.Options{
		Triggers:       wiring.Triggers{Components: a.components, Labels: wiring.Labels(a.opt.Config), Devices: a.devices},
		Containers:     stored,
		Stored:         stored.Shared,
		Store:          a.store,
		CheckedAtStart: a.checkedAtStart,
		Bus:            &a.bus,
		Updates:        wiring.Operations{Runner: a.updater, Store: a.store},
		Attacher:       wiring.Attacher{Components: a.components},
		Links:          a.links,
		Notes:          notes.Excerpts(a.notes.Of),
		NotStarted:     plugin.NotStarted,
		Exited:         plugin.Exited,
		Progressed:     a.deliveryProgressed,
		Redact:         a.opt.Redactor.String,
		Log:            a.opt.Log,
		Now:            a.opt.Now,
	})
	// A trigger that is not there yet would miss what is planned; one that hangs holds up no other.
	a.parts.Add(parts.Part{Name: "notifications", Needs: a.components.AwaitListed, Run: a.dispatcher.Run})
	return nil
}

// checkedAtStart returns the watchers that are checked when Dogwatch starts to serve.
func (a *App) checkedAtStart() []string {
	if !a.serving.Load() {
		return nil
	}
	return wiring.CheckedAtStart(a.components)
}

// deliveryProgressed notifies streams, and the pages that show what they started.
func (a *App) deliveryProgressed() {
	a.bus.Touch(event.DeliveryProgressed)
	a.bus.Touch(event.WorkChanged)
}

// makeStreams makes what keeps triggers that mirror everything informed. No check may be running yet.
func (a *App) makeStreams(ctx context.Context) (err error) {
	stored := wiring.Containers{Store: a.store}
	a.streams, err = statestream.New(ctx, statestream.Options{
		Containers: stored.Shared,
		Watchers:   a.components.WatcherNames,
		Operations: a.updater.States,
		Events:     a.store,
		Bus:        &a.bus,
		Run:        wiring.RunNow(a.dispatcher, stored),
		Decide:     wiring.Decide(a.choices, stored, a.opt.Now),
		Log:        a.opt.Log,
	})
	a.parts.Add(parts.Part{Name: "state streams", Run: func(ctx context.Context) error {
		return a.streams.Run(ctx, wiring.Subscribers(a.components))
	}})
	return err
}
