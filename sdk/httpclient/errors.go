package httpclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// explain gives a failure of req its kind and a text that is safe to show.
func (c *Client) explain(req *http.Request, doing string, err error) error {
	// A *url.Error repeats the URL; what it wraps is the reason.
	var wrapper *url.Error
	for errors.As(err, &wrapper) {
		err = wrapper.Err
	}
	prefix := fmt.Sprintf("%s %s: %s", req.Method, origin(req.URL), doing)
	if refused := (*addressError)(nil); errors.As(err, &refused) {
		return fmt.Errorf("%s%w", prefix, refused)
	}
	if kinded(err) {
		return fmt.Errorf("%s%w", prefix, err)
	}
	if cause := req.Context().Err(); cause != nil {
		err := fmt.Errorf("%s%w", prefix, cause)
		if errors.Is(cause, context.Canceled) {
			return err
		}
		return sdk.WithKind(sdk.ErrUnavailable, err)
	}
	if timeout(err) {
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%sno answer within %v (timeout)", prefix, c.timeout))
	}
	if problem := tlsProblem(req.URL.Hostname(), err); problem != nil {
		return fmt.Errorf("%s%w", prefix, problem)
	}
	text := c.hide.With(credentials(req)...).Blank(withoutQuotes(err.Error()))
	unavailable := sdk.WithKind(sdk.ErrUnavailable, errors.New(prefix+clean(text)))
	if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) {
		return sdk.WithRemedy(unavailable,
			"The name cannot be resolved. Check its spelling, and the DNS of the container of Dogwatch.")
	}
	return unavailable
}

// kinded reports whether err was made by this package and says all there is to say.
func kinded(err error) bool {
	var invalid *sdk.InvalidError
	return errors.As(err, &invalid) || errors.Is(err, sdk.ErrUnavailable) || errors.Is(err, sdk.ErrUnauthorized) ||
		errors.Is(err, ErrTooLarge)
}

func timeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// quoted is what the standard library takes from the other side into its
// errors: a Location, a status line, a header.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

func withoutQuotes(text string) string { return quoted.ReplaceAllString(text, `"…"`) }

// tlsProblem explains a failed handshake, with what to do about it; nil when err is something else.
func tlsProblem(host string, err error) error {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		network   *net.OpError
	)
	switch {
	case errors.As(err, &authority):
		return sdk.Invalid("tls.cafile",
			"the certificate of %s is signed by an unknown authority; give that authority's PEM file", host)
	case errors.As(err, &name):
		return sdk.Invalid("url", "the certificate of the server is not for %s; use a name it is for", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return sdk.WithKind(sdk.ErrUnavailable,
			fmt.Errorf("the certificate of %s has expired or is not valid yet; renew it, and check the clock", host))
	case errors.As(err, &invalid):
		return sdk.Invalid("tls.cafile", "the certificate of %s cannot be trusted: %v", host, invalid)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return sdk.Invalid("url", "%s does not speak TLS on this port; use http:// or another port", host)
	case errors.As(err, &network) && strings.HasSuffix(network.Op, " error"), strings.HasPrefix(err.Error(), "tls: "):
		// A TLS alert of either side has the operation "remote error" or "local error".
		return fmt.Errorf("the TLS handshake failed: %w; see tls.certfile and tls.minversion", err)
	}
	return nil
}
