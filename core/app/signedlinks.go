package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
)

// links are the signed links of messages.
type links interface {
	dispatch.SignedLinks
	service.SignedLinks
	choices.SignedLinks
}

// makeLinks makes the signed links of messages: there are none until users can reach
// the server under an address that is known.
func (a *App) makeLinks(ctx context.Context) (err error) {
	settings := a.opt.Config
	if !settings.Links.Enabled || settings.PublicURL == nil || !settings.Server.Enabled {
		a.links = signedlink.None{}
		return nil
	}
	a.links, err = signedlink.New(ctx, signedlink.Options{
		URL:        settings.PublicURL,
		Expiry:     settings.Links.Expiry,
		Store:      a.store,
		Containers: wiring.Containers{Store: a.store},
		Choices:    a.choices,
		MayApprove: wiring.MayApprove(func(watcher string) bool { return a.updater.Allowed(watcher) == nil }),
		Now:        a.opt.Now,
	})
	return err
}
