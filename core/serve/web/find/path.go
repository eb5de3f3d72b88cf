package find

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/update/operation"
)

// recentIDs is how many events, and how many operations, are looked through for an old id.
const recentIDs = 500

// PathOf returns the page of the container that has an id, or had it before it was
// recreated; "" when there is none.
func (f *Finder) PathOf(ctx context.Context, actor auth.Actor, id string) string {
	now := f.service.Containers()
	if rec, known := now.Get(id); known {
		return page.PathOf(&rec.Container)
	}
	done, err := f.service.Operations(ctx, operation.Filter{Limit: recentIDs})
	if err != nil {
		f.Log.Warn("look for the operation that recreated a container", "id", id, "error", err)
	}
	for _, op := range done {
		if op.ContainerID == id || op.Outcome != nil && op.Outcome.ContainerID == id {
			// The page knows when it has another name by now, or is not listed yet.
			return page.ContainerPath(op.Watcher, op.Name)
		}
	}
	found, err := f.service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.ContainerAdded, event.ContainerReplaced, event.ContainerRenamed}, Limit: recentIDs,
	})
	if err != nil {
		f.Log.Warn("look for the name of a container", "id", id, "error", err)
	}
	for _, e := range found {
		if c := e.Container; c != nil && c.ID == id {
			return page.PathOf(c)
		}
	}
	return ""
}
