package plugin

import (
	"context"
	"slices"
	"time"
)

// followEvery is the pause between two looks at the folder of plugins. It is read, not
// subscribed to, since folders of other machines report no changes.
const followEvery = 700 * time.Millisecond

// Follow notices executables that come, go or change in the folder of plugins, until
// ctx ends. A file that is still being written is left alone until two looks show the
// same. changed is called after each change, and when a bundle holds other types than
// before, as one that was not trusted until now, once that bundle has settled: a file that
// hangs keeps no other one waiting. Discover must have been called.
func (h *Host) Follow(ctx context.Context, changed func()) {
	if h.opt.Dir == "" {
		return
	}
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	var last []file // the latest look that showed something new
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.changes:
			changed()
			continue
		case <-ticker.C:
		}
		now, err := list(h.opt.Dir)
		if err != nil {
			if !failing {
				h.log.Error("look for changes of plugins", "error", err)
			}
			failing = true
			continue
		}
		failing = false
		h.mu.Lock()
		known := slices.EqualFunc(h.listed, now, file.same)
		h.mu.Unlock()
		switch {
		case known:
			last = nil
		case last == nil || !slices.EqualFunc(last, now, file.same):
			last = append([]file{}, now...)
		default:
			last = nil
			different, err := h.update(ctx, now)
			if err != nil && ctx.Err() == nil {
				h.log.Error("look for changes of plugins", "error", err)
			}
			if different && ctx.Err() == nil {
				changed()
			}
		}
	}
}
