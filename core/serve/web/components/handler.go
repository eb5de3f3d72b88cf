// Package components serves the pages of the configured watchers, registries and triggers.
package components

import (
	"context"
	"embed"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what is configured; *service.Service says what its methods return.
type Service interface {
	Containers() store.Snapshot
	Redact(text string) string
	Progress() []check.Progress
	ComponentsWithSettings(actor auth.Actor, k kind.Kind) []service.Component
	Component(ctx context.Context, actor auth.Actor, k kind.Kind, typ, name string) (service.Component, bool)
	Test(ctx context.Context, actor auth.Actor, k kind.Kind, typ, name, image string) (service.TestResult, error)
	Preview(ctx context.Context, typ, name string) (testrun.Result, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	DeliveryProgress() []dispatch.Progress
}

// Handler serves the components.
type Handler struct {
	*page.Site
	service Service
	guide   *guide.Handler
	// testResults are shown after a test.
	testResults testResults
}

// New returns a handler.
func New(site *page.Site, service Service, guide *guide.Handler) *Handler {
	return &Handler{Site: site, service: service, guide: guide}
}
