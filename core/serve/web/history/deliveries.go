package history

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
)

// deliveryStates are the choices of the filter, in the order of what needs a person.
var deliveryStates = []string{delivery.Failed, delivery.Pending, delivery.Sending, delivery.Sent, delivery.Skipped}

// deliveriesPage is a page of what is pending for triggers, was sent and was given up.
type deliveriesPage struct {
	page.List
	State, Trigger string
	States         []string
	Triggers       []string
	Rows           []DeliveryRow
	Empty          *guide.Empty
	// Unsent says why messages of a trigger are not sent so far, where several of the rows have the same cause.
	Unsent []phrase.Phrase
	// Retried is the id of the delivery that was just made pending again.
	Retried int64
	// Retrying is how many messages failed and are tried again, where nothing failed for good.
	Retrying int
}

type deliveryQuery struct{ State, Trigger, before string }

func parseDeliveries(values url.Values) (q deliveryQuery, wrong []phrase.Phrase) {
	q = deliveryQuery{State: values.Get("state"), Trigger: strings.TrimSpace(values.Get("trigger"))}
	if q.State != "" && !slices.Contains(deliveryStates, q.State) {
		wrong = append(wrong, phrase.New("There is no state %q: all deliveries are shown.", q.State))
		q.State = ""
	}
	q.before, _ = beforeOf(values)
	return q, wrong
}

func (q deliveryQuery) values(before string) string {
	return page.Query(map[string]string{"state": q.State, "trigger": q.Trigger, "before": before})
}

// filter selects the deliveries of a query from the id before on.
func (q deliveryQuery) filter(before int64, limit int) store.DeliveryFilter {
	return store.DeliveryFilter{State: q.State, Trigger: q.Trigger, Before: before, Limit: limit}
}

func newDeliveriesPage(
	q deliveryQuery, wrong []phrase.Phrase, found []delivery.Delivery, triggers []string, names page.Names,
) deliveriesPage {
	p := deliveriesPage{
		State: q.State, Trigger: q.Trigger, States: deliveryStates, Triggers: withOwn(triggers, q.Trigger),
	}
	found, p.List = page.ListOf("/deliveries", found, q.before,
		func(d delivery.Delivery) string { return strconv.FormatInt(d.ID, 10) }, q.values)
	p.Wrong, p.Rows = wrong, DeliveryRows(found, names)
	p.Unsent = unsent(p.Rows)
	return p
}

// unsent takes the errors that several waiting deliveries of a trigger have from their rows, and says each once.
func unsent(rows []DeliveryRow) (said []phrase.Phrase) {
	type cause struct{ trigger, err string }
	waiting := map[cause][]int{}
	for i, row := range rows {
		if row.Delivery.State == delivery.Pending && row.Error != "" {
			why := cause{row.Trigger, row.Error}
			waiting[why] = append(waiting[why], i)
		}
	}
	for _, row := range rows {
		why := cause{row.Trigger, row.Error}
		if its := waiting[why]; len(its) > 1 {
			said = append(said, phrase.New("%s cannot send: %s", row.Trigger, words.Mistake(row.Error)))
			for _, i := range its {
				rows[i].Error = ""
			}
			delete(waiting, why)
		}
	}
	return said
}

// AddSteps adds the latest steps to the rows of deliveries that are being sent.
func AddSteps(rows []DeliveryRow, steps []dispatch.Progress) {
	for i := range rows {
		step := slices.IndexFunc(steps, func(p dispatch.Progress) bool { return p.Delivery == rows[i].ID })
		if step < 0 || rows[i].Delivery.State != delivery.Sending {
			continue
		}
		rows[i].Sentence = phrase.Join(": ", rows[i].Sentence, words.Step(steps[step]))
	}
}

func (h *Handler) showDeliveries(w http.ResponseWriter, r *http.Request) {
	q, wrong := parseDeliveries(r.URL.Query())
	_, before := beforeOf(r.URL.Query())
	found, err := h.service.Deliveries(r.Context(), q.filter(before, page.Size+1))
	if err != nil {
		h.InternalError(w, r, "read the deliveries", err)
		return
	}
	p := newDeliveriesPage(q, wrong, found, h.triggerIDs(h.ActorOf(r)), h.Names())
	AddSteps(p.Rows, h.service.DeliveryProgress())
	if q.State == delivery.Failed && len(p.Rows) == 0 {
		pending, err := h.service.Deliveries(r.Context(), store.DeliveryFilter{State: delivery.Pending, Trigger: q.Trigger})
		if err != nil {
			h.InternalError(w, r, "read the deliveries", err)
			return
		}
		for _, d := range pending {
			if d.Attempts > 0 {
				p.Retrying++
			}
		}
	}
	p.Empty = h.guide.Empty(r.Context(), h.ActorOf(r), len(p.Rows))
	p.Retried, _ = strconv.ParseInt(r.URL.Query().Get("retried"), 10, 64)
	h.Live(w, r, "deliveries", page.Page{Title: phrase.New("Deliveries"), Nav: "history", Live: page.FollowsDeliveries, Content: p})
}
