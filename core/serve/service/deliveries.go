package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
)

// Deliveries returns what is pending for triggers, was sent and was given up, the newest first.
func (s *Service) Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error) {
	found, err := s.opt.Store.Deliveries(ctx, f)
	for i := range found {
		found[i].Error = s.opt.Redact(found[i].Error)
	}
	return found, err
}

// DeliveryProgress returns the steps that triggers reported last, of the deliveries
// under way. Their texts are redacted.
func (s *Service) DeliveryProgress() []dispatch.Progress { return s.opt.Triggers.DeliveryProgress() }

// RetryDelivery has a delivery sent now that failed, or that waits for another attempt. The error is an ErrNotFound
// when there is none with this id, and ErrNotFailed when no attempt has failed.
func (s *Service) RetryDelivery(ctx context.Context, actor auth.Actor, id int64) error {
	if err := allow(actor, auth.Write, "retry deliveries"); err != nil {
		return err
	}
	switch err := s.opt.Store.Retry(ctx, id); {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("retry delivery %d: %w", id, ErrNotFound)
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("retry delivery %d: %w", id, ErrNotFailed)
	case err != nil:
		return err
	}
	s.opt.Triggers.Wake()
	return nil
}
