package containers

import (
	"context"
	"errors"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/phrase"
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
	return h.Tasks.Start(page.Task{Title: phrase.New("Checking every container"), Steps: 1},
		func(ctx context.Context, step func()) (phrase.Phrase, bool) {
			defer step()
			if err := h.service.CheckAll(ctx, actor); err != nil {
				return phrase.New("The check did not end: %s.", phrase.Quote(err.Error())), true
			}
			return phrase.New("Checked: %s.", words.Counts(h.guide.Counts())), false
		})
}

func (h *Handler) checkSome(actor auth.Actor, chosen []sdk.Container) bool {
	return h.Tasks.Start(page.Task{Title: phrase.New("Checking %s", words.Names(chosen)), Steps: len(chosen)},
		func(ctx context.Context, step func()) (phrase.Phrase, bool) {
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
func checked(snapshot store.Snapshot, make rows, chosen []sdk.Container, errs []error) (phrase.Phrase, bool) {
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
	return phrase.New("Checked: %s.", words.Counts(t)), t.Failed > 0
}

func checkedOne(make rows, rec *store.Record, err error) (phrase.Phrase, bool) {
	switch {
	case errors.Is(err, check.ErrNotListed) || err == nil && rec == nil:
		return phrase.New("The engine does not have it any more."), true
	case err != nil:
		return phrase.New("The check failed: %s.", phrase.Quote(err.Error())), true
	}
	r := make.Of(rec)
	switch {
	case r.Failed != "":
		return phrase.New("The check failed: %s.", phrase.Quote(r.Failed)), true
	case r.Kind != "":
		return phrase.New("There is a newer version: %s (%s).", r.New, words.Kind(r.Kind)), false
	}
	return phrase.New("It is up to date."), false
}
