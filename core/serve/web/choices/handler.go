// Package choices serves the pages on which users decide about updates: a form for one or several, and links.
package choices

import (
	"context"
	"embed"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// Templates are those of its pages.
//
//go:embed *.html
var Templates embed.FS

// Service is what keeps choices; *service.Service says what its methods return.
type Service interface {
	Containers() store.Snapshot
	Redact(text string) string
	UpdatePermission(actor auth.Actor, watcherName string) service.Permission
	Choose(ctx context.Context, actor auth.Actor, choice service.Choice) error
	UndoChoices(ctx context.Context, actor auth.Actor, container string) (int, error)
	AllChoices() []choice.Choice
	MajorAdvice(c sdk.Container) (advice phrase.Phrase, page string)
}

// Handler serves the choices.
type Handler struct {
	*page.Site
	service Service
	find    *find.Finder
	links   SignedLinks
}

// New returns a handler.
func New(site *page.Site, service Service, find *find.Finder, links SignedLinks) *Handler {
	return &Handler{site, service, find, links}
}

// SignedLinks redeem the signed links of messages; see signedlink.Links.
type SignedLinks interface {
	// Enabled reports whether messages have links.
	Enabled() bool
	Show(ctx context.Context, token string) (signedlink.Shown, error)
	Redeem(ctx context.Context, token string, action choice.Kind, until time.Time) (signedlink.Shown, error)
}
