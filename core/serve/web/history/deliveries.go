package history

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

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
	State, Trigger string
	States         []string
	Triggers       []string
	Wrong          []string
	Rows           []DeliveryRow
	Older          string
	Newest         string
	CSV            string
	Filtered       bool
	Empty          *guide.Empty
	// Retried is the id of the delivery that was just made pending again.
	Retried int64
}

type deliveryQuery struct {
	State, Trigger string
	before         int64
}

func parseDeliveries(values url.Values) (q deliveryQuery, wrong []string) {
	q = deliveryQuery{State: values.Get("state"), Trigger: strings.TrimSpace(values.Get("trigger"))}
	if q.State != "" && !slices.Contains(deliveryStates, q.State) {
		wrong = append(wrong, fmt.Sprintf("There is no state %q: all deliveries are shown.", q.State))
		q.State = ""
	}
	q.before, _ = beforeOf(values)
	return q, wrong
}

func (q deliveryQuery) values(before int64) string {
	v := url.Values{}
	if q.State != "" {
		v.Set("state", q.State)
	}
	if q.Trigger != "" {
		v.Set("trigger", q.Trigger)
	}
	if before > 0 {
		v.Set("before", strconv.FormatInt(before, 10))
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func newDeliveriesPage(q deliveryQuery, wrong []string, found []delivery.Delivery, triggers []string) deliveriesPage {
	p := deliveriesPage{
		State: q.State, Trigger: q.Trigger, States: deliveryStates, Triggers: withOwn(triggers, q.Trigger),
		Wrong: wrong, CSV: q.values(0),
	}
	if len(found) > page.Size {
		found = found[:page.Size]
		p.Older = q.values(found[page.Size-1].ID)
	}
	if q.before > 0 {
		p.Newest = "/deliveries" + q.values(0)
	}
	p.Filtered = q.values(0) != ""
	p.Rows = DeliveryRows(found)
	return p
}

// AddSteps adds the latest steps to the rows of deliveries that are being sent.
func AddSteps(rows []DeliveryRow, steps []dispatch.Progress) {
	for i := range rows {
		at := slices.IndexFunc(steps, func(p dispatch.Progress) bool { return p.Delivery == rows[i].ID })
		if at < 0 || rows[i].Delivery.State != delivery.Sending {
			continue
		}
		if text := words.Step(steps[at]); text != "" {
			rows[i].Said += ": " + text
		}
	}
}

func (h *Handler) showDeliveries(w http.ResponseWriter, r *http.Request) {
	q, wrong := parseDeliveries(r.URL.Query())
	found, err := h.service.Deliveries(r.Context(), store.DeliveryFilter{
		State: q.State, Trigger: q.Trigger, Before: q.before, Limit: page.Size + 1,
	})
	if err != nil {
		h.InternalError(w, r, "read the deliveries", err)
		return
	}
	p := newDeliveriesPage(q, wrong, found, h.triggerIDs(h.ActorOf(r)))
	AddSteps(p.Rows, h.service.DeliveryProgress())
	p.Empty = h.guide.Empty(r.Context(), h.ActorOf(r), len(p.Rows))
	p.Retried, _ = strconv.ParseInt(r.URL.Query().Get("retried"), 10, 64)
	h.Live(w, r, "deliveries", page.Page{Title: "Deliveries", Nav: "history", Live: page.FollowsDeliveries, Content: p})
}
