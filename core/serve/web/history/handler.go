// Package history serves the pages of what happened and of what is pending for triggers, and both as CSV.
package history

import (
	"context"
	"embed"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what happened; *service.Service says what its methods return.
type Service interface {
	Components(actor auth.Actor, k kind.Kind) []service.Component
	History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	DeliveryProgress() []dispatch.Progress
	RetryDelivery(ctx context.Context, actor auth.Actor, id int64) error
}

// Handler serves the history.
type Handler struct {
	*page.Site
	service Service
	guide   *guide.Handler
}

// New returns a handler.
func New(site *page.Site, service Service, guide *guide.Handler) *Handler {
	return &Handler{site, service, guide}
}
