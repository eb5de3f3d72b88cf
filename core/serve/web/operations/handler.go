// Package operations serves the pages of updates and rollbacks: their plans, what is under way, and how they ended.
package operations

import (
	"context"
	"embed"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what plans and carries out changes; *service.Service says what its methods return.
type Service interface {
	Containers() store.Snapshot
	UpdatePermission(actor auth.Actor, watcherName string) service.Permission
	PreviousImage(ctx context.Context, c sdk.Container) (string, error)
	ImageDiff(ctx context.Context, actor auth.Actor, id string) (updater.ImageDiff, error)
	Plan(ctx context.Context, actor auth.Actor, change service.Change) (watcher.Plan, error)
	PlanDetails(ctx context.Context, actor auth.Actor, change service.Change) (service.PlanDetails, error)
	ByHand(ctx context.Context, c sdk.Container) sdk.Container
	StartOperation(ctx context.Context, actor auth.Actor, change service.Change) (operation.Operation, error)
	CancelOperation(ctx context.Context, actor auth.Actor, id string) error
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
	Operation(ctx context.Context, id string) (operation.Operation, error)
	OperationProgress(id string) (watcher.StepProgress, bool)
}

// Handler serves the operations.
type Handler struct {
	*page.Site
	service Service
	guide   *guide.Handler
	find    *find.Finder
	choices *choices.Handler
}

// New returns a handler.
func New(
	site *page.Site, service Service, guide *guide.Handler, find *find.Finder, choices *choices.Handler,
) *Handler {
	return &Handler{site, service, guide, find, choices}
}
