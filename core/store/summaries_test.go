package store

import (
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

func TestPlanSummaryOnlyGoesForward(t *testing.T) {
	s := fresh(t)
	at := func(days int) delivery.Summary {
		return delivery.Summary{Due: start.Add(time.Duration(days) * 24 * time.Hour), Event: int64(days)}
	}
	summary := func(fingerprint string) delivery.Delivery {
		return delivery.Delivery{
			Trigger: "ntfy.phone", Subject: "summary", Fingerprint: fingerprint, Batch: true, Payload: []byte("{}"),
		}
	}
	if last, err := s.LastSummary(t.Context(), "ntfy.phone"); err != nil || last != (delivery.Summary{}) {
		t.Errorf("before the first: %+v, %v", last, err)
	}
	for _, c := range []struct {
		of   delivery.Summary
		name string
		want int // deliveries
	}{{at(1), "1", 1}, {at(1), "1 again", 1}, {at(3), "3", 2}, {at(2), "2", 2}, {at(4), "", 2}} {
		var ds []delivery.Delivery
		if c.name != "" {
			ds = append(ds, summary(c.name))
		}
		must(t, s.PlanSummary(t.Context(), "ntfy.phone", c.of, ds...))
		if all, err := s.Deliveries(t.Context(), DeliveryFilter{}); err != nil || len(all) != c.want {
			t.Errorf("%q: %d deliveries, %v; want %d", c.name, len(all), err, c.want)
		}
	}
	if last, err := s.LastSummary(t.Context(), "ntfy.phone"); err != nil || !last.Due.Equal(at(4).Due) || last.Event != 4 {
		t.Errorf("the last is %+v, %v", last, err)
	}
	if last, err := s.LastSummary(t.Context(), "smtp.main"); err != nil || !last.Due.IsZero() {
		t.Errorf("of another trigger: %+v, %v", last, err)
	}
}
