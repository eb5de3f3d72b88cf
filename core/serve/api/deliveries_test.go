package api

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/store"
)

// addDelivery adds a delivery in a state and returns its id.
func (w *testServer) addDelivery(state string) int64 {
	w.t.Helper()
	ctx := context.Background()
	n := len(must(w.store.Deliveries(ctx, store.DeliveryFilter{Limit: 1000})))
	_, err := w.store.Plan(ctx, "dispatch", 0, []delivery.Delivery{{
		Trigger: "smtp.gmail", Subject: "local/nginx", Fingerprint: fmt.Sprint(n), Containers: []string{"c1"},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	id := must(w.store.Deliveries(ctx, store.DeliveryFilter{Limit: 1}))[0].ID
	if state != delivery.Pending {
		if err := w.store.Finish(ctx, id, delivery.Outcome{
			State: state, Error: "login with " + smtpPass + " refused",
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

func TestDeliveries(t *testing.T) {
	w := start(t, nil)
	same(t, "no deliveries", string(w.get("/api/deliveries").want(200).body), "[]")
	failed, sent, pending := w.addDelivery(delivery.Failed), w.addDelivery(delivery.Sent), w.addDelivery(delivery.Pending)

	same(t, "all", ids(w.get("/api/deliveries").want(200).list()), []int64{pending, sent, failed})
	same(t, "failed", ids(w.get("/api/deliveries?state=failed").want(200).list()), []int64{failed})
	same(t, "of a trigger", ids(w.get("/api/deliveries?trigger=smtp.gmail&limit=1").want(200).list()), []int64{pending})
	same(t, "of another", ids(w.get("/api/deliveries?trigger=ntfy.one").want(200).list()), []int64{})
	same(t, "the next page", ids(w.get(fmt.Sprintf("/api/deliveries?limit=1&before=%d", sent)).want(200).list()),
		[]int64{failed})

	w.get("/api/deliveries?state=lost").fails(400, "state: want one of pending, sending")
	w.get("/api/deliveries?limit=0").fails(400, "limit: want a whole number from 1 to 1000")
	w.get("/api/deliveries?before=x").fails(400, "before")
	w.get("/api/deliveries?limti=5").fails(400, "limti", "did you mean limit?")
	w.get("/api/deliveries?limit=5&limit=6").fails(400, "given 2 times")

	w.do("POST", fmt.Sprintf("/api/deliveries/%d/retry", failed), "").want(202)
	if w.triggers.woke != 1 {
		t.Errorf("the dispatcher was woken %d times", w.triggers.woke)
	}
	same(t, "pending", ids(w.get("/api/deliveries?state=pending").want(200).list()), []int64{pending, failed})
	w.do("POST", fmt.Sprintf("/api/deliveries/%d/retry", sent), "").fails(409)
	w.do("POST", fmt.Sprintf("/api/deliveries/%d/retry", pending), "").fails(409, "waits for another attempt")
	for range 2 { // each of them
		d, due, err := w.store.Claim(t.Context(), "smtp.gmail", time.Now())
		again := delivery.Outcome{State: delivery.Pending, NextAt: time.Now().Add(time.Hour)}
		if err != nil || !due || w.store.Finish(t.Context(), d.ID, again) != nil {
			t.Fatal(d, due, err)
		}
	}
	w.do("POST", fmt.Sprintf("/api/deliveries/%d/retry", pending), "").want(202)
	if d, due, err := w.store.Claim(t.Context(), "smtp.gmail", time.Now()); err != nil || !due || d.ID != pending ||
		w.triggers.woke != 2 {
		t.Errorf("it is not due: %+v, %v, woken %d times", d, err, w.triggers.woke)
	}
	w.do("POST", "/api/deliveries/99/retry", "").fails(404, "Delivery not found")
	w.do("POST", "/api/deliveries/x/retry", "").fails(404, "Delivery not found")
}
