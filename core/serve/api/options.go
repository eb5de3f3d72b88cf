package api

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
	"github.com/dogwatch/dogwatch/core/serve/service"
)

// EventLog is the log of events that streams send.
type EventLog interface {
	event.Log
	// OldestEvent returns the id of the oldest event that is kept, or that of the next
	// one when none is.
	OldestEvent(ctx context.Context) (int64, error)
}

// Metrics serves the metrics.
type Metrics interface {
	Handler(read func(context.Context) (metrics.State, error)) http.Handler
}

// Agents serves connections of agents; see agent.Controller.
type Agents interface {
	Serve(conn net.Conn, address string)
}

// Options configure a Server.
type Options struct {
	Config  *config.Config
	Version string
	// Service is what the handlers translate to HTTP.
	Service *service.Service
	Auth    *auth.Auth
	Events  EventLog
	Bus     *event.Bus
	Metrics Metrics
	// Agents takes the connections of agents; nil when there are none.
	Agents Agents
	// Pages are at every path that is not the API's; nil for none.
	Pages Pages
	// Redact blanks secrets in the texts of errors, which may repeat what a client sent.
	Redact func(string) string
	Log    hclog.Logger
	Now    func() time.Time

	limits limits // those that are zero have their default
}
