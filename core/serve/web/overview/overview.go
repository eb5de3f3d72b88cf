package overview

import (
	"net/http"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

const (
	// operationsShown is how many ended operations the overview looks through, and rowsShown how many updates it lists.
	operationsShown = 30
	rowsShown       = 10
	// limitWait is how long the overview waits for what registries allow.
	limitWait = 300 * time.Millisecond
	// checksBack is how many events of checks are searched for the last of each watcher.
	checksBack = 200
)

// overviewView is what needs the user.
type overviewView struct {
	// Sentence says what the tiles show, and stands for them while there are no containers.
	Sentence phrase.Phrase
	Empty    bool
	Tiles    []tile
	// Operations are updates that are under way.
	Operations []operationLine
	// Approvals are the updates that wait for the approval of a user, Rows those that a user may carry out, and More
	// how many others of these there are.
	Approvals, Rows []containers.Row
	More            int
	// Starts is whether the user may start them, and Decides whether the user may start and postpone Approvals.
	Starts, Decides bool
	// Failures are what the user has to mend, one for each cause.
	Failures []containers.Line
	// Waiting are updates that rules and choices hold, and those that are carried out by rule.
	Waiting []containers.Line
	// Postponed are checks that wait for a registry's pause.
	Postponed []containers.Line
	// Outdated are sentences about newer versions of plugins.
	Outdated []phrase.Phrase
	// Behind is nil while there is nothing to see.
	Behind   *trendView
	Watchers []watcherLine
	Limits   []phrase.Phrase
	// Guide says what to do next, while something is missing.
	Guide *guide.Guide
	// Headings are those of the columns of rows.
	Headings []phrase.Phrase
}

// Attention is how many things need the user.
func (v overviewView) Attention() int { return len(v.Failures) + len(v.Approvals) }

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	v, err := h.overviewOf(r)
	if err != nil {
		h.InternalError(w, r, "read the history", err)
		return
	}
	if page.Partial(r) {
		h.Fragment(w, r, "overview", "overview", v)
		return
	}
	h.Show(w, r, http.StatusOK, "overview", page.Page{Title: phrase.New("Overview"), Nav: "overview", Live: page.FollowsAll, Content: v})
}

func (h *Handler) overviewOf(r *http.Request) (overviewView, error) {
	ctx, actor := r.Context(), h.ActorOf(r)
	make := h.containers.RowsFor(r)
	var all []containers.Row
	var t tally.Counts
	records := h.service.Containers().All()
	h.containers.WantReleases(records)
	for _, rec := range records {
		t.Add(&rec.Container)
		all = append(all, make.Of(rec))
	}
	watchers := h.service.Components(actor, kind.Watcher)
	v := overviewView{
		Sentence: guide.Headline(t, watchers), Empty: t.All == 0, Headings: containers.Headings(),
	}
	events, err := h.service.History(ctx, actor, event.Filter{
		Types: []event.Type{event.CheckStarted, event.CheckFinished, event.CheckFailed}, Limit: checksBack,
	})
	if err != nil {
		return v, err
	}
	failed, err := h.service.Deliveries(ctx, store.DeliveryFilter{State: delivery.Failed})
	if err != nil {
		return v, err
	}
	pending, err := h.service.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending})
	if err != nil {
		return v, err
	}
	ended, err := h.service.Operations(ctx, operation.Filter{
		States: []operation.State{operation.Succeeded, operation.RolledBack, operation.Failed}, Limit: operationsShown,
	})
	if err != nil {
		return v, err
	}
	if v.Guide, err = h.guide.Guide(ctx, actor); err != nil {
		return v, err
	}
	h.containers.Follow(ctx, actor, all)
	open, names := h.operations.UnderWay(ctx), h.Names()
	v.Operations = operationsOf(open, names)
	named, shown := h.namedOf(ended, all)
	h.list(r, &v, records, all, named)
	triggers, bundles := h.service.Components(actor, kind.Trigger), h.service.Plugins()
	// What cannot be watched comes first: nothing else is known to be right then.
	registries := h.service.Components(actor, kind.Registry)
	unreachable := componentsOf(watchers, bundles)
	if g := v.Guide; g != nil && g.Whole && g.Reason != "" {
		unreachable = nil // the guide says it, and what to do
	}
	v.Failures = slices.Concat(pluginsOf(bundles, slices.Concat(watchers, registries, triggers)),
		unreachable, failuresOf(open, ended, names, h.Now()), containers.FailuresOf(all),
		unsentOf(failed, pending, triggers, shown), componentsOf(registries, bundles), componentsOf(triggers, bundles),
		configurationOf(h.service.About().Problems, slices.Concat(watchers, registries, triggers)))
	v.Waiting, v.Postponed = waitingOf(all, h.Now()), postponedOf(all)
	v.Outdated = outdatedOf(bundles)
	v.Watchers = watchersOf(watchers, events, h.Started, h.service.Progress(), h.service.NextCheck)
	v.Tiles = tilesOf(t, len(componentsOf(watchers, nil)), v.Watchers)
	v.Limits = h.limits(ctx, actor)
	days, err := h.service.UpdateHistory(ctx)
	if err != nil {
		return v, err
	}
	v.Behind = trendOf(h.Languages.Of(r), days)
	return v, nil
}
