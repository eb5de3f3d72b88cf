package overview

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// operationsShown is how many ended operations the overview looks through.
const operationsShown = 30

const (
	// limitWait is how long the overview waits for what registries allow.
	limitWait = 300 * time.Millisecond
	// checksBack is how many events of checks are searched for the last of each watcher.
	checksBack = 200
)

// overviewView is what needs the user.
type overviewView struct {
	Sentence string
	Empty    bool
	Needs    []containers.Line
	// Broken are other parts of Dogwatch itself that do not work.
	Broken []containers.Line
	// Outdated are sentences about newer versions of plugins.
	Outdated []string
	// Operations are updates that are under way.
	Operations []containers.Line
	// Waiting are updates that rules and choices hold, and those that are carried out by rule.
	Waiting []containers.Line
	// Postponed are checks that wait for a registry's pause.
	Postponed []containers.Line
	// Behind is nil while there is nothing to see.
	Behind   *trendView
	Watchers []watcherLine
	Limits   []string
	// Guide says what to do next, while something is missing.
	Guide *guide.Guide
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	v, err := h.overviewOf(r.Context(), h.ActorOf(r))
	if err != nil {
		h.InternalError(w, r, "read the history", err)
		return
	}
	if page.Partial(r) {
		h.Fragment(w, r, "overview", "overview", v)
		return
	}
	h.Show(w, r, http.StatusOK, "overview", page.Page{Title: "Overview", Nav: "overview", Live: page.FollowsAll, Content: v})
}

func (h *Handler) overviewOf(ctx context.Context, actor auth.Actor) (overviewView, error) {
	var all []containers.Row
	var t tally.Counts
	records := h.service.Containers().All()
	h.containers.WantReleases(records)
	for _, rec := range records {
		t.Add(&rec.Container)
		all = append(all, h.containers.Rows().Of(rec))
	}
	watchers := h.service.Components(actor, kind.Watcher)
	down := componentsOf(watchers)
	v := overviewView{Sentence: guide.Headline(t, watchers), Empty: t.All == 0}
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
	h.containers.Follow(ctx, actor, all)
	open := h.operations.UnderWay(ctx)
	v.Operations = operationsOf(open, ended, h.Now())
	named, shown := h.namedOf(ended, all)
	bad := v.Operations[len(open):] // what is under way comes first, and needs no user
	v.Operations = v.Operations[:len(open):len(open)]
	idle := slices.DeleteFunc(slices.Clone(all), func(r containers.Row) bool { // what is being updated needs no user
		_, busy := open[r.Key]
		return busy
	})
	// What cannot be watched comes first: nothing else is known to be right then.
	v.Needs = slices.Concat(down, bad, cameBackOf(all, named), containers.FailuresOf(all), approvalsOf(idle),
		updatesOf(idle),
		unsentOf(failed, pending, h.service.Components(actor, kind.Trigger), shown))
	v.Waiting, v.Postponed = waitingOf(all, h.Now()), postponedOf(all)
	bundles := h.service.Plugins()
	v.Broken = slices.Concat(componentsOf(h.service.Components(actor, kind.Registry)),
		componentsOf(h.service.Components(actor, kind.Trigger)), pluginsOf(bundles))
	v.Outdated = outdatedOf(bundles)
	var names []string
	for _, c := range watchers {
		names = append(names, c.Name)
	}
	v.Watchers = watchersOf(names, events, h.Started, h.service.Progress(), h.service.NextCheck)
	waiting, cancel := context.WithTimeout(ctx, limitWait)
	defer cancel()
	registries := h.service.Registries(waiting, actor)
	v.Limits = append(limitsOf(registries, h.Now()), budgetsOf(registries)...)
	days, err := h.service.UpdateHistory(ctx)
	if err != nil {
		return v, err
	}
	v.Behind = trendOf(days)
	v.Guide, err = h.guide.Guide(ctx, actor)
	return v, err
}
