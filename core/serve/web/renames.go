package web

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxNames is how many names of one container its history goes back.
const maxNames = 5

// historyOf returns what happened to a container, newest first, under the names
// that it had before, too.
func (u *UI) historyOf(ctx context.Context, actor auth.Actor, c *sdk.Container) (all []event.Event, err error) {
	f := event.Filter{SkipReleased: true, Subject: event.Subject(*c)}
	for range maxNames {
		f.Limit = versionEvents - len(all)
		found, err := u.Service.History(ctx, actor, f)
		if err != nil {
			return nil, err
		}
		next := ""
		for _, e := range found {
			all = append(all, e)
			if e.From != "" { // what came before under this name was another container
				next, f.Before = e.From, e.ID
				break
			}
		}
		if next == "" || len(all) >= versionEvents {
			break
		}
		f.Subject = event.Subject(sdk.Container{Watcher: c.Watcher, Name: next})
	}
	return all, nil
}
