package app

import (
	"context"

	"github.com/dogwatch/dogwatch/core/notify/webpush"
)

// makeDevices makes what knows the browsers that users have subscribed.
func (a *App) makeDevices(ctx context.Context) (err error) {
	a.devices, err = webpush.New(ctx, webpush.Options{
		Store:   a.store,
		Secrets: a.opt.Redactor.Add,
		Log:     a.opt.Log,
		Now:     a.opt.Now,
	})
	return err
}
