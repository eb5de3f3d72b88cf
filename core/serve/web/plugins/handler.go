// Package plugins serves the pages of the plugins: the bundles, their processes, and the types that they hold.
package plugins

import (
	"context"
	"embed"

	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is the bundles and their processes; *service.Service says what its methods return.
type Service interface {
	Plugins() []service.Plugin
	Types(k kind.Kind) []kind.Type
	RestartPlugin(actor auth.Actor, name string) (service.Plugin, error)
	TrustPlugin(ctx context.Context, actor auth.Actor, name, sha256 string) (service.Plugin, error)
	GrantPlugin(ctx context.Context, actor auth.Actor, name, capability string, granted bool) (service.Plugin, error)
	Gallery(ctx context.Context, actor auth.Actor, newest bool) ([]install.Offer, error)
	ChangePlugin(
		ctx context.Context, actor auth.Actor, do service.PluginChange, name string, newest bool,
	) (install.Pin, error)
}

// Handler serves the plugins.
type Handler struct {
	*page.Site
	service Service
	guide   *guide.Handler
}

// New returns a handler.
func New(site *page.Site, service Service, guide *guide.Handler) *Handler {
	return &Handler{site, service, guide}
}
