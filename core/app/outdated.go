package app

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

const (
	// lookEvery is how often newer versions of an installed plugin are looked for.
	lookEvery = 24 * time.Hour
	// lookPause is the time between two looks at which plugins are due. A restart in between costs no request.
	lookPause = time.Hour
)

// outdated looks for newer versions of installed plugins. It is for one goroutine.
type outdated struct {
	dir    string
	agent  string
	logins func() RegistryLogins
	record func(context.Context, event.Change) error
	may    install.MayHold
	log    hclog.Logger
	now    func() time.Time
	// tried is when a look was tried, by name, so that one that fails is not repeated sooner.
	tried map[string]time.Time
}

// lookForPlugins looks once a day for newer versions of what is installed.
func (a *App) lookForPlugins(ctx context.Context) error {
	o := outdated{
		dir:    a.opt.Config.Plugins.Dir,
		agent:  a.installer.agent,
		logins: a.installer.logins,
		record: a.store.Commit,
		may:    a.mayHold(ctx),
		log:    a.log,
		now:    a.opt.Now,
		tried:  map[string]time.Time{},
	}
	return every(ctx, lookPause, func() { o.look(ctx) })
}

// look notes what is newer than it was known to be: as an event, once for each version,
// and beside the plugins, which lasts.
func (o *outdated) look(ctx context.Context) {
	before, err := install.Read(o.dir)
	before = slices.DeleteFunc(before, func(st install.Status) bool {
		now := o.now()
		return now.Sub(st.CheckedAt.Time) < lookEvery || now.Sub(o.tried[st.Name]) < lookEvery
	})
	if err != nil || len(before) == 0 { // what is wrong with the folder the next command reports
		return
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	logins := o.logins()
	defer logins.Close()
	all := slices.Clone(before)
	from := artifact.Fetcher{Logins: logins, UserAgent: o.agent, Platform: artifact.Here()}
	if err := install.FindNewer(ctx, from, o.now(), all, o.may); err != nil && ctx.Err() == nil {
		o.log.Warn("look for newer versions of plugins", "error", err)
	}
	var change event.Change
	for i, st := range all {
		o.tried[st.Name] = o.now()
		if st.Available == "" || st.Available == before[i].Available && st.AvailableDigest == before[i].AvailableDigest {
			continue
		}
		o.log.Info("a newer version of a plugin is available", "name", st.Name, "ref", st.Ref, "newer", st.Available)
		change.Events = append(change.Events,
			event.Event{At: o.now(), Type: event.PluginOutdated, Subject: st.Name, Payload: event.Payload{
				Plugin: &event.Plugin{From: st.Ref, To: st.Available, Digest: st.AvailableDigest},
			}})
	}
	if len(change.Events) > 0 {
		if err := o.record(ctx, change); err != nil {
			o.log.Error("record newer versions of plugins", "error", err)
			return // they are found again
		}
	}
	folder, err := install.Open(ctx, o.dir)
	if err == nil {
		err = folder.RecordNewer(all)
		folder.Close()
	}
	if err != nil && ctx.Err() == nil {
		o.log.Warn("remember what is newer of plugins", "error", err)
	}
}
