// Package settings serves the pages about the program itself and how it is set up.
package settings

import (
	"context"
	"embed"
	"time"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Templates are those of its pages.
//
//go:embed settings.html api.html notifications.html reload.html webhooks.html log.html
var Templates embed.FS

// Service is the program and how it is set up; *service.Service says what its methods return.
type Service interface {
	Components(actor auth.Actor, k kind.Kind) []service.Component
	Containers() store.Snapshot
	Redact(text string) string
	Plugins() []service.Plugin
	Deliveries(ctx context.Context, f store.DeliveryFilter) ([]delivery.Delivery, error)
	Tokens(ctx context.Context, actor auth.Actor) ([]store.Token, error)
	CreateToken(ctx context.Context, actor auth.Actor, name, scope string, expires time.Time) (secret string,
		created store.Token, err error)
	RevokeToken(ctx context.Context, actor auth.Actor, id int64) error
	HasLinks() bool
	RevokeSignedLinks(ctx context.Context, actor auth.Actor, triggerID string) error
	Sessions(ctx context.Context, actor auth.Actor) ([]auth.Session, error)
	EndSession(ctx context.Context, actor auth.Actor, id string) error
	EndOtherSessions(ctx context.Context, actor auth.Actor) error
	About() service.About
	LogLevel() string
	LogEntries(actor auth.Actor, f logging.Filter) (entries []logging.Entry, parts []string, err error)
	SetLogLevel(ctx context.Context, actor auth.Actor, level string) error
	PreviewReload(ctx context.Context, actor auth.Actor) (reload.Result, error)
	ReloadConfiguration(ctx context.Context, actor auth.Actor) (reload.Result, error)
	Webhooks() []webhook.Status
	Push(ctx context.Context, actor auth.Actor) (service.Push, error)
	RemoveDevice(ctx context.Context, actor auth.Actor, id string) error
	TestDevice(ctx context.Context, actor auth.Actor, id string) error
}

// Handler serves the settings.
type Handler struct {
	*page.Site
	service Service
}

// New returns a handler.
func New(site *page.Site, service Service) *Handler {
	return &Handler{site, service}
}

// problem is what a page says of an error.
func problem(err error, title, detail phrase.Phrase) page.Failure {
	return page.Failure{Err: err, Problem: page.Problem{
		Title: title, Detail: detail, Back: phrase.New("Go to Settings"), BackTo: "/settings",
	}}
}

// forbidden is for an actor that may not do it; the error says who may.
var forbidden = problem(service.ErrForbidden, phrase.New("This is not allowed"), nil)
