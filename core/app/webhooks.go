package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// makeWebhooks makes what receives pushes, and checks what they concern.
func (a *App) makeWebhooks(context.Context) error {
	var hooks []webhook.Hook
	for _, h := range a.opt.Config.Webhooks.Hooks() {
		a.opt.Redactor.Add(h.Secret)
		hooks = append(hooks, webhook.Hook{Name: h.Name, Secret: h.Secret, Host: h.Host, URLToken: h.URLToken})
	}
	if len(hooks) == 0 {
		a.webhooks = webhook.None{}
		return nil
	}
	receiver := webhook.New(webhook.Options{
		Hooks:      hooks,
		Containers: a.containers,
		Store:      a.store,
		Check:      a.scheduler.WatchSome,
		Log:        a.opt.Log,
		Now:        a.opt.Now,
	})
	a.webhooks = receiver
	// Without its configured registry an image would be looked up elsewhere.
	a.parts.Add(parts.Part{Name: "webhooks", Needs: a.configured(kind.Watcher, kind.Registry), Run: receiver.Run})
	return nil
}

// containers returns the stored containers.
func (a *App) containers() []sdk.Container {
	var all []sdk.Container
	for _, r := range a.store.Snapshot().All() {
		all = append(all, r.Container)
	}
	return all
}
