// Package find leads from what a request names to containers: those that a path, an id or a form means, also under
// the names and ids that they had before. Where there are none, it responds.
package find

import (
	"context"
	"embed"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what is searched; *service.Service says what its methods return.
type Service interface {
	Containers() store.Snapshot
	History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error)
	Operations(ctx context.Context, f operation.Filter) ([]operation.Operation, error)
}

// Finder finds containers.
type Finder struct {
	*page.Site
	service Service
}

// New returns a finder.
func New(site *page.Site, service Service) *Finder { return &Finder{site, service} }
