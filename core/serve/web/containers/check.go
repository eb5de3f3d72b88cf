package containers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

func (h *Handler) checkAll(actor auth.Actor) bool {
	return h.Tasks.Start(page.Task{Title: "Checking every container", Steps: 1},
		func(ctx context.Context, step func()) (string, bool) {
			defer step()
			if err := h.service.CheckAll(ctx, actor); err != nil {
				return "The check did not end: " + err.Error() + ".", true
			}
			return "Checked: " + words.Counts(h.guide.Counts()) + ".", false
		})
}

func (h *Handler) checkSome(actor auth.Actor, chosen []sdk.Container) bool {
	return h.Tasks.Start(page.Task{Title: "Checking " + words.Names(chosen), Steps: len(chosen)},
		func(ctx context.Context, step func()) (string, bool) {
			errs := make([]error, len(chosen))
			var wait sync.WaitGroup
			slots := make(chan struct{}, find.AtOnce)
			for i, c := range chosen {
				slots <- struct{}{}
				wait.Go(func() {
					errs[i] = h.service.CheckOne(ctx, actor, c)
					step()
					<-slots
				})
			}
			wait.Wait()
			return checked(h.service.Containers(), h.Rows(), chosen, errs)
		})
}

// checked says how checks of containers went.
func checked(snapshot store.Snapshot, make rows, chosen []sdk.Container, errs []error) (string, bool) {
	var t tally.Counts
	for i := range chosen {
		rec, known := snapshot.Named(chosen[i].Watcher, chosen[i].Name)
		if len(chosen) == 1 {
			return checkedOne(make, rec, errs[i])
		}
		if errs[i] != nil || !known {
			t.All++
			t.Failed++
			continue
		}
		t.Add(&rec.Container)
	}
	return "Checked: " + words.Counts(t) + ".", t.Failed > 0
}

func checkedOne(make rows, rec *store.Record, err error) (string, bool) {
	switch {
	case errors.Is(err, check.ErrNotListed) || err == nil && rec == nil:
		return "The engine does not have it any more.", true
	case err != nil:
		return "The check failed: " + err.Error() + ".", true
	}
	r := make.Of(rec)
	switch {
	case r.Failed != "":
		return "The check failed: " + r.Failed + ".", true
	case r.Kind != "":
		return fmt.Sprintf("There is a newer version: %s (%s).", r.New, tally.Word(r.Kind)), false
	}
	return "It is up to date.", false
}
