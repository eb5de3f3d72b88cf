package service

import (
	"errors"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/store"
)

// fakeTriggers counts what wakes the dispatcher.
type fakeTriggers struct {
	Triggers
	woken int
}

func (f *fakeTriggers) Wake() { f.woken++ }

func TestRetryDeliveryErrors(t *testing.T) {
	triggers := &fakeTriggers{}
	s, stored := newService(t, func(o *Options) { o.Triggers = triggers })
	if err := s.RetryDelivery(t.Context(), reader, 77); !errors.Is(err, ErrForbidden) {
		t.Errorf("of a reader: %v", err)
	}
	if err := s.RetryDelivery(t.Context(), writer, 77); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotFailed) {
		t.Errorf("of no delivery: %v", err)
	}
	if _, err := stored.Plan(t.Context(), "test", 1,
		[]delivery.Delivery{{
			Trigger: "smtp.main", Subject: "local/web", Fingerprint: "a", State: delivery.Pending,
			CreatedAt: time.Now(), UpdatedAt: time.Now(),
		}}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Deliveries(t.Context(), store.DeliveryFilter{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d deliveries, %v", len(all), err)
	}
	if err := s.RetryDelivery(t.Context(), writer, all[0].ID); !errors.Is(err, ErrNotFailed) || triggers.woken != 0 {
		t.Errorf("of a pending delivery: %v, woken %d times", err, triggers.woken)
	}
}
