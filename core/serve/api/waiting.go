package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
)

// Health is what GET /api/health says.
type Health struct {
	// Uptime is since when it serves, in seconds.
	Uptime float64 `json:"uptime"`
	// Waiting is true while another Dogwatch holds the lease: it is alive, and does nothing.
	Waiting bool `json:"waiting,omitempty"`
}

// ServeWaiting listens at the configured address in the place of Listen while another Dogwatch holds the lease: it says
// that this one is alive and waits, and responds to all else that it does not serve. stop closes it. It does not say
// who holds the lease, since it asks for no login.
func ServeWaiting(settings config.Server, log hclog.Logger) (stop func(), err error) {
	if !settings.Enabled {
		return func() {}, nil
	}
	listener, err := listen(settings)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	server := &http.Server{
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: headerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			var body any = Health{Uptime: time.Since(began).Seconds(), Waiting: true}
			if !strings.HasSuffix(r.URL.Path, "/health") {
				w.Header().Set("Retry-After", "10")
				w.WriteHeader(http.StatusServiceUnavailable)
				body = readiness{
					Problems: []string{"another Dogwatch holds the lease, and this one waits"},
					Watchers: map[string]watcherReadiness{},
				}
			}
			_ = json.NewEncoder(w).Encode(body) // who asked may be gone
		}),
	}
	log.Info("listening", "address", listener.Addr().String(), "tls", settings.TLS.Enabled)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until stop closes it
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
