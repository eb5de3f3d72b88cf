// Package containers serves the list of the containers, the page of each, and what can be done with them there.
package containers

import (
	"context"
	"embed"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what is known of containers, and checks them; *service.Service says what its methods return.
type Service interface {
	Containers() store.Snapshot
	CheckAll(ctx context.Context, actor auth.Actor) error
	CheckOne(ctx context.Context, actor auth.Actor, c sdk.Container) error
	Explain(ctx context.Context, c sdk.Container) check.Explanation
	MajorAdvice(c sdk.Container) (advice phrase.Phrase, page string)
	HasNotes() bool
	Notes(ctx context.Context, c sdk.Container) notes.Notes
	KnownWarnings(ctx context.Context, c sdk.Container, version string) []service.ReleaseWarning
	LogAccess(actor auth.Actor, watcherName string) service.LogAccess
	ContainerLog(ctx context.Context, actor auth.Actor, id string, lines int) (watcher.Log, error)
	CanScan(actor auth.Actor) (has, may bool)
	Scan(actor auth.Actor, c sdk.Container) error
	ScanStatus(ctx context.Context, c sdk.Container) (scan.Status, error)
	Progress() []check.Progress
	Redact(text string) string
	Components(actor auth.Actor, k kind.Kind) []service.Component
	TriggersOf(actor auth.Actor, c sdk.Container) []service.Component
	RunTrigger(ctx context.Context, actor auth.Actor, typ, name string, containers []sdk.Container, test bool) error
	History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error)
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	UpdatePermission(actor auth.Actor, watcherName string) service.Permission
	PreviewPolicies(ctx context.Context, rules []string) (service.PolicyPreview, error)
	ChoicesOf(subject string) []choice.Choice
	SkippedBy(c *sdk.Container, version string) string
}

// Wanted are called with containers that are shown, so that what pages say of them is fetched. They must not wait.
type Wanted struct {
	// Release is for the date of the newer version, and the notes of a major one.
	Release func(c *sdk.Container)
	// Versions is for the versions behind the tag.
	Versions func(c *sdk.Container)
}

// Handler serves the containers.
type Handler struct {
	*page.Site
	service    Service
	guide      *guide.Handler
	find       *find.Finder
	operations *operations.Handler
	choices    *choices.Handler
	wanted     Wanted
}

// New returns a handler.
func New(site *page.Site, service Service, guide *guide.Handler, find *find.Finder, operations *operations.Handler,
	choices *choices.Handler, wanted Wanted) *Handler {
	return &Handler{site, service, guide, find, operations, choices, wanted}
}
