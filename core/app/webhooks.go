package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// webhooks receives deliveries, and checks what they concern.
type webhooks interface {
	service.Webhooks
	Run(ctx context.Context) error
}

// makeWebhooks makes what receives deliveries.
func (a *App) makeWebhooks() {
	var hooks []webhook.Hook
	for _, h := range a.opt.Config.Webhooks.Hooks() {
		a.opt.Redactor.Add(h.Secret)
		hooks = append(hooks, webhook.Hook{Name: h.Name, Secret: h.Secret, Host: h.Host, URLToken: h.URLToken})
	}
	if len(hooks) == 0 {
		a.webhooks = webhook.None{}
		return
	}
	a.webhooks = webhook.New(webhook.Options{
		Hooks: hooks, Containers: a.containers, Store: a.store, Check: a.scheduler.WatchSome, Log: a.opt.Log, Now: a.opt.Now,
	})
}

// receiveWebhooks checks what deliveries concern, until ctx ends.
func (a *App) receiveWebhooks(ctx context.Context) error {
	// Without its configured registry an image would be looked up elsewhere.
	if a.components.Await(ctx, kind.Watcher, kind.Registry) != nil {
		return nil
	}
	return a.webhooks.Run(ctx)
}

// containers returns the stored containers.
func (a *App) containers() []sdk.Container {
	var all []sdk.Container
	for _, r := range a.store.Snapshot().All() {
		all = append(all, r.Container)
	}
	return all
}
