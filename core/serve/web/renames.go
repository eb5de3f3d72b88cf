package web

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// recentRenames is how many renames are looked through for an old name.
	recentRenames = 200
	// recentIDs is how many events, and how many operations, are looked through for an old id.
	recentIDs = 500
	// maxNames is how many names of one container its history goes back.
	maxNames = 5
)

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

// renamed returns the container that once had a name that none has now; nil
// when there is none, or its renaming is forgotten.
func (u *UI) renamed(ctx context.Context, actor auth.Actor, watcher, name string) *sdk.Container {
	found, err := u.Service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.ContainerRenamed, event.ContainerReplaced}, Watcher: watcher, Limit: recentRenames,
	})
	if err != nil {
		u.Log.Warn("look for the new name of a container", "container", watcher+"/"+name, "error", err)
		return nil
	}
	now := u.Service.Containers()
	seen := map[string]bool{}
	for name != "" && !seen[name] {
		seen[name] = true
		next := ""
		for _, e := range found {
			if e.From != name || e.Container == nil || e.Container.Watcher != watcher {
				continue
			}
			if rec, known := now.Get(e.Container.ID); known {
				return &rec.Container
			}
			if rec, known := now.Named(watcher, e.Container.Name); known { // recreated since
				return &rec.Container
			}
			next = e.Container.Name
			break
		}
		name = next
	}
	return nil
}

// pathOf returns the page of the container that has an id, or had it before it was
// recreated; "" when there is none.
func (u *UI) pathOf(ctx context.Context, actor auth.Actor, id string) string {
	now := u.Service.Containers()
	if rec, known := now.Get(id); known {
		return page.PathOf(&rec.Container)
	}
	done, err := u.Service.Operations(ctx, operation.Filter{Limit: recentIDs})
	if err != nil {
		u.Log.Warn("look for the operation that recreated a container", "id", id, "error", err)
	}
	for _, op := range done {
		if op.ContainerID == id || op.Outcome != nil && op.Outcome.ContainerID == id {
			return page.ContainerPath(op.Watcher, op.Name) // which knows when it has another name by now, or is not listed yet
		}
	}
	found, err := u.Service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.ContainerAdded, event.ContainerReplaced, event.ContainerRenamed}, Limit: recentIDs,
	})
	if err != nil {
		u.Log.Warn("look for the name of a container", "id", id, "error", err)
	}
	for _, e := range found {
		if c := e.Container; c != nil && c.ID == id {
			return page.PathOf(c)
		}
	}
	return ""
}
