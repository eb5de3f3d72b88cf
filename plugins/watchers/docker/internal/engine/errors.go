package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/sshdial"
	"github.com/dogwatch/dogwatch/sdk"
)

// failure is why an engine did not respond as it should.
type failure struct {
	text   string // for the user, with the remedy
	kind   error  // one of the kinds of package sdk; nil means ErrUnavailable
	remedy string // what to do besides; "" when text says it all
	status int    // the HTTP status of an error response; 0 when there is no response
}

// Error has a fixed text, because the client library replaces errors in whose text it
// recognises something; explain finds the failure itself in what the library returns.
func (f *failure) Error() string { return "no answer" }

// explained is an error with a text for the user.
type explained struct {
	text string
	failure
	op    endpointCall
	cause error
}

func (e *explained) Error() string        { return e.text }
func (e *explained) Unwrap() error        { return e.cause }
func (e *explained) Is(target error) bool { return target == e.kind }

// explain makes the error that leaves this package: who, doing what, why, and what to do about it.
func (e *Engine) explain(op endpointCall, err error) error {
	var already *explained
	if errors.As(err, &already) {
		return sdk.WithRemedy(already, already.remedy)
	}
	f := e.understand(op, err)
	if f.kind == nil {
		f.kind = sdk.ErrUnavailable
	}
	doing := op.what + ": "
	if op == connecting { // every reason says so itself
		doing = ""
	}
	return sdk.WithRemedy(&explained{
		text: fmt.Sprintf("docker engine at %s: %s%s", e.Endpoint, doing, f.text), failure: f, op: op, cause: err,
	}, f.remedy)
}

func (e *Engine) understand(op endpointCall, err error) failure {
	var (
		f       *failure
		syntax  *json.SyntaxError
		badType *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &f):
		return f.advised(op)
	case errors.Is(err, context.DeadlineExceeded):
		return *tooLate(e.Timeout)
	case errors.As(err, &syntax), errors.As(err, &badType):
		return failure{text: "the answer is not the Docker API's: check the address and the port"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return failure{text: "the answer was cut short"}
	}
	return failure{text: err.Error()}
}

// tooLate is that an engine did not respond in time.
func tooLate(limit time.Duration) *failure {
	return &failure{text: fmt.Sprintf("no answer within %s: the engine hangs or is overloaded", limit)}
}

// advised adds what to do to a refusal.
func (f failure) advised(op endpointCall) failure {
	switch f.status {
	case http.StatusForbidden:
		f.kind = sdk.ErrUnauthorized
		f.text = fmt.Sprintf("forbidden (%s): allow it in the socket proxy, with %s=1 in most", f.text, op.allow)
	case http.StatusUnauthorized:
		f.kind = sdk.ErrUnauthorized
		f.text = fmt.Sprintf("not authorized (%s): the engine wants to know its clients, see certfile and keyfile", f.text)
	case http.StatusProxyAuthRequired:
		f.kind = sdk.ErrUnauthorized
		f.text = "the proxy wants other credentials: write them as user:password@ in proxy"
	case http.StatusNotFound:
		f.kind = sdk.ErrNotFound
		if op == connecting {
			f.text = fmt.Sprintf("something answers there, but it is not a Docker engine (404: %s)",
				strings.TrimPrefix(f.text, "404 "))
			f.remedy = "Check host and port, and whether a proxy answers instead."
		}
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if strings.Contains(f.text, "swarm manager") { // errNoSwarm and its like in daemon/cluster of moby
			f.text = "it is not a manager of a swarm: watch an engine that is, or make this one a manager with " +
				"docker swarm init"
			return f
		}
		f.text = fmt.Sprintf("a proxy cannot reach the engine (%s): is the engine running?", f.text)
	case http.StatusBadRequest:
		if strings.Contains(f.text, "HTTPS server") { // the words of Go's and nginx's servers to plain HTTP
			f.text = "the engine wants TLS: set cafile, or write https://"
		}
	}
	return f
}

// noConnection understands why a connection failed.
func noConnection(endpoint Endpoint, err error) *failure {
	var (
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
		certificate *tls.CertificateVerificationError
		alert       tls.AlertError
		record      tls.RecordHeaderError
		dns         *net.DNSError
		timeout     net.Error
		tunnel      *sshdial.Error
	)
	f := &failure{}
	switch {
	case errors.As(err, &f):
		return f
	case endpoint.Proxy != nil && isOfProxy(err):
		f = &failure{text: fmt.Sprintf("the proxy %s cannot be used: %v", endpoint.Proxy.Host, sshdial.Innermost(err))}
		return f
	case errors.As(err, &tunnel):
		return &failure{text: tunnel.Error(), kind: tunnel.Kind(), remedy: tunnel.Remedy()}
	case errors.Is(err, fs.ErrPermission):
		f.kind = sdk.ErrUnauthorized
		f.text = "permission denied: " + cmp.Or(statSocket(endpoint.Address).remedy(us()),
			"give Dogwatch's user the group that owns the socket (compose: group_add), or use a socket proxy")
	case errors.Is(err, fs.ErrNotExist):
		f.text = "no socket there; either the engine is not running, or its socket is not mounted into Dogwatch's container"
	case errors.Is(err, syscall.ECONNREFUSED) && endpoint.Network == "unix":
		f.text = "nothing listens on the socket: is the engine running?"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.text = "nothing listens there: is the engine running, and does it listen on the network?"
	case errors.As(err, &dns):
		f.text = fmt.Sprintf("the name %s is not known: check host", dns.Name)
	case errors.As(err, &authority):
		f.text = "its certificate is not signed by a known CA: set cafile to the CA that signed it"
	case errors.As(err, &hostname):
		f.text = fmt.Sprintf("its certificate is for another name (%v): use a name that it holds", hostname)
	case errors.As(err, &certificate):
		f.text = fmt.Sprintf("its certificate is not valid (%v)", certificate.Err)
	case errors.As(err, &record):
		f.text = "the engine speaks without TLS on that port: use its TLS port (2376), or remove cafile, certfile and keyfile"
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		f.kind = sdk.ErrUnauthorized
		f.text = fmt.Sprintf("the engine refuses the TLS connection (%v): set certfile and keyfile to a certificate that it accepts", sshdial.Innermost(err))
	case strings.Contains(err.Error(), "malformed HTTP response"):
		f.text = "what answers there does not speak HTTP: if the engine wants TLS, set cafile or write https://"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		f.text = "the connection was closed before there was an answer"
	case errors.As(err, &timeout) && timeout.Timeout():
		f.text = fmt.Sprintf("no connection within %s: check the address and the firewall", dialTimeout)
	default:
		f.text = sshdial.Innermost(err).Error()
	}
	if endpoint.Network == "unix" && endpoint.SSH == nil {
		f.remedy = statSocket(endpoint.Address).remedy(us())
	}
	return f
}

// isOfProxy reports whether a connection failed at the proxy, as net/http and its SOCKS5 client say.
func isOfProxy(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect")
}

// refusedByProxy explains why a proxy does not open a tunnel.
func refusedByProxy(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	return &failure{status: response.StatusCode, text: response.Status}
}

// isVersionError reports whether an engine does not speak the API version that was
// agreed: "client version 1.41 is too old" (or "too new").
func isVersionError(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.status == http.StatusBadRequest && strings.Contains(f.text, "client version")
}

// IsResponse reports whether an error is a response of the engine, or of a proxy that
// forbids the request. With any other error further requests would fail as well.
func IsResponse(err error) bool {
	var e *explained
	if !errors.As(err, &e) {
		return false
	}
	switch e.status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// HasStatus reports whether the engine, or a proxy, responded with an HTTP status.
func HasStatus(err error, status int) bool {
	var e *explained
	return errors.As(err, &e) && e.status == status
}

// HasNoEvents reports whether the engine does not know events at all.
func HasNoEvents(err error) bool {
	var e *explained
	return errors.As(err, &e) && e.op == readEvents &&
		(e.status == http.StatusNotFound || e.status == http.StatusNotImplemented)
}
