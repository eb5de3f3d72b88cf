// Package api serves the HTTP interface: first the contract that clients of
// What's Up Docker rely on, then what is Dogwatch's own.
//
// A request passes this middleware, from the outside in: recovery (panics, read
// and write deadlines), normalizePath, cors, refuseForeignHosts (DNS rebinding)
// and refuseCrossSite (CSRF). Then the router finds the handler; routes.go has all
// routes with the scope that each requires, which authorization.go enforces.
// Handlers translate HTTP: core/serve/service decides what a caller may see and do.
// Responses are written by respond.go, errors by problem.go. openapi.yaml
// describes every route, which a test asserts. limits.go and connections.go
// bound what clients can make the server hold.
package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader is the largest header of a request; those of one host's cookies may be long.
	maxHeader = 32 << 10
	// maxStreams bounds the requests of one HTTP/2 connection at a time.
	maxStreams = 100
	// drainTime is how long requests under way may take once the server is to
	// stop, and endTime how long they then have to notice that they are cancelled.
	drainTime = 10 * time.Second
	endTime   = time.Second
)

// Server is a listening HTTP server.
type Server struct {
	http     *http.Server
	listener net.Listener
	// quiet ends requests that only wait when the server shuts down: streams, and
	// requests that wait for a check.
	quiet     context.Context
	endQuiet  context.CancelFunc
	cancelRun context.CancelFunc
}

// Listen opens the configured address. It returns no server when the server is switched off.
func Listen(opt Options) (*Server, error) {
	settings := opt.Config.Server
	if !settings.Enabled {
		return nil, nil
	}
	opt.Log = opt.Log.Named("api")
	listener, err := listen(settings)
	if err != nil {
		return nil, err
	}
	if opt.Auth.Open() && !loopback(settings.Host) {
		opt.Log.Warn("there is no login: every client that reaches the server may use it; configure one (auth.basic or auth.oidc), let a reverse proxy ask for one, or set server.host to 127.0.0.1")
	}
	opt.Log.Info("listening", "address", listener.Addr().String(), "tls", settings.TLS.Enabled)
	return newServer(opt, listener), nil
}

// listen opens the configured address.
func listen(settings config.Server) (net.Listener, error) {
	address := net.JoinHostPort(settings.Host, strconv.Itoa(settings.Port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s (set by server.host and server.port): %w", address, err)
	}
	if !settings.TLS.Enabled {
		return listener, nil
	}
	certificate, err := tls.LoadX509KeyPair(settings.TLS.Cert, settings.TLS.Key)
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("load the certificate of server.tls.cert and server.tls.key: %w", err)
	}
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
	}), nil
}

// loopback reports whether only this machine reaches a host to listen on.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func newServer(opt Options, listener net.Listener) *Server {
	s := &Server{listener: listener}
	s.quiet, s.endQuiet = context.WithCancel(context.Background())
	run, cancel := context.WithCancel(context.Background())
	s.cancelRun = cancel
	clients := newConnections(opt.limits.complete(), opt.Log)
	s.http = &http.Server{
		ConnContext: clients.add, ConnState: clients.stateChanged, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		Handler: newHandler(opt, run), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog:    log.New(opt.Log.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}), "", 0),
		BaseContext: func(net.Listener) context.Context { return s.quiet },
	}
	return s
}

// Addr returns the address the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve serves requests until ctx ends, and then does a graceful shutdown: streams
// end at once, other requests under way have drainTime to end, and are cancelled
// after that. It returns an error if it could not serve or shut down.
func (s *Server) Serve(ctx context.Context) error {
	defer s.cancelRun()
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	select {
	case err := <-failed:
		s.endQuiet()
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	s.endQuiet()
	err := s.shutdown(drainTime)
	if errors.Is(err, context.DeadlineExceeded) {
		s.cancelRun()
		err = s.shutdown(endTime)
	}
	<-failed
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving HTTP: %w", err)
	}
	return nil
}

func (s *Server) shutdown(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.http.Shutdown(ctx)
}
