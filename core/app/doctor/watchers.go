package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// watchers asks every watcher for its containers, and returns them too.
func (e *examination) watchers(ctx context.Context) ([]Finding, []sdk.Container) {
	var mu sync.Mutex
	var all []sdk.Container
	found := each(e.Installation.Watchers(), func(w Watcher) []Finding {
		return e.within(ctx, w.ID, func(ctx context.Context) []Finding {
			findings, listed := e.watcher(ctx, w)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, listed...)
			return findings
		})
	})
	mu.Lock()
	defer mu.Unlock()
	all = slices.Clone(all) // a watcher that is late may still add to its own
	slices.SortFunc(all, func(a, b sdk.Container) int {
		return cmp.Or(strings.Compare(a.Watcher, b.Watcher), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return found, all
}

func (e *examination) watcher(ctx context.Context, w Watcher) ([]Finding, []sdk.Container) {
	found := w.findings()
	if w.Err != nil {
		return found, nil
	}
	listed, err := w.List(ctx)
	if err != nil {
		f := Finding{Subject: w.ID, Level: Fail, Detail: err.Error(), Remedy: sdk.Remedy(err)}
		if ctx.Err() != nil {
			f.Detail = fmt.Sprintf("no answer of the engine%s within %s", addressOf(w), e.Limit)
		}
		return append([]Finding{f}, found...), nil
	}
	for i := range listed {
		listed[i].Watcher = w.Name
		expand(&listed[i].Image)
	}
	f := Finding{Subject: w.ID, Level: OK, Detail: phrase.Count(len(listed), "container").String()}
	if len(listed) == 0 {
		f.Level, f.Remedy = Warn, "start one, or set watchall to see stopped ones too"
	}
	if w.Probe != nil {
		if probed, err := w.Probe(ctx); err == nil {
			f.Detail += " of " + probed.Summary
			found = append(found, warnings(w.ID, probed)...)
		}
	}
	if w.MixesLabels && slices.ContainsFunc(listed, isLabelled) {
		found = append(found, Finding{Subject: w.ID, Level: Warn,
			Detail: "its plugin does not tell the labels of images from those of containers: all count as those of images",
			Remedy: "install a newer version of it, or set labels.image to all if you build all images yourself"})
	}
	switch {
	case w.MayUpdate:
		f.Detail += "; it may update them, since " + w.Updates
	case w.Updates != "":
		f.Detail += "; it may not update them, since " + w.Updates
	}
	return append([]Finding{f}, found...), listed
}

// isLabelled reports whether a container has labels that are read here.
func isLabelled(c sdk.Container) bool {
	for name := range c.Labels {
		if label.Rank(name) >= 0 {
			return true
		}
	}
	return false
}

// addressOf says where the engine of a watcher is, as its options do.
func addressOf(w Watcher) string {
	for _, name := range []string{"url", "host", "socket"} {
		if text := fmt.Sprint(w.Options[name]); w.Options[name] != nil && text != "" {
			return " at " + text
		}
	}
	return ""
}

// expand writes where an image comes from in full: watchers tell what is
// written, and "nginx" is docker.io/library/nginx.
func expand(img *sdk.Image) {
	if ref, err := reference.Parse(reference.Join(img.Registry.Host, img.Name)); err == nil {
		img.Registry.Host, img.Name = ref.Domain, ref.Path
	} // what cannot be read is the error of its container
}
