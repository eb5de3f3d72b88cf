package find

import (
	"context"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// recentRenames is how many renames are looked through for an old name.
const recentRenames = 200

// Named returns a handler of the container that a path names: next gets it.
func (f *Finder) Named(next func(w http.ResponseWriter, r *http.Request, rec *store.Record)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if rec := f.container(w, r); rec != nil {
			next(w, r, rec)
		}
	}
}

// container finds the container of a path. When there is none, it responds and returns nil.
func (f *Finder) container(w http.ResponseWriter, r *http.Request) *store.Record {
	watcher, name := r.PathValue("watcher"), r.PathValue("name")
	rec, known := f.service.Containers().Named(watcher, name)
	if !known {
		if now := f.renamed(r.Context(), f.ActorOf(r), watcher, name); now != nil {
			to := page.PathOf(now)
			if parts := strings.Split(r.URL.Path, "/"); len(parts) > 4 {
				to += "/" + parts[4] // its plan, or why it has this tag
			}
			if r.URL.RawQuery != "" {
				to += "?" + r.URL.RawQuery
			}
			http.Redirect(w, r, f.Path(to), http.StatusFound)
			return nil
		}
		if f.recreated(w, r, watcher, name) {
			return nil
		}
		f.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: phrase.New("This container is gone"), Detail: phrase.New("It was removed, or its watcher is not configured any more."),
			Back: phrase.New("Go to Containers"), BackTo: "/containers",
		})
		return nil
	}
	return rec
}

// renamed returns the container that once had a name that none has now; nil
// when there is none, or its renaming is forgotten.
func (f *Finder) renamed(ctx context.Context, actor auth.Actor, watcher, name string) *sdk.Container {
	found, err := f.service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.ContainerRenamed, event.ContainerReplaced}, Watcher: watcher, Limit: recentRenames,
	})
	if err != nil {
		f.Log.Warn("look for the new name of a container", "container", watcher+"/"+name, "error", err)
		return nil
	}
	now := f.service.Containers()
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
