package smtp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// explain gives a failure its kind and a text without secrets. option is to
// blame when the server refuses for good.
//
//	4yz, a broken connection, a timeout   sdk.ErrUnavailable
//	530, 534, 535, 538                    sdk.ErrUnauthorized (RFC 4954 section 6)
//	another 5yz, a certificate            *sdk.InvalidError
func (s *smtp) explain(ctx context.Context, doing, option string, err error) error {
	prefix := "mail server " + s.server() + ": " + doing + ": "
	if cause := ctx.Err(); cause != nil {
		if errors.Is(cause, context.Canceled) {
			return fmt.Errorf("%s%w", prefix, cause)
		}
		return sdk.WithKind(sdk.ErrUnavailable,
			fmt.Errorf("%sno answer in time; check host and port (465 wants tls.enabled), or raise timeout", prefix))
	}
	if problem := s.tlsProblem(err); problem != nil {
		return fmt.Errorf("%s%w", prefix, problem)
	}
	said := err.Error()
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		said = strings.TrimPrefix(dial.Err.Error(), "connect: ") // the address is named already
	}
	text := prefix + s.clean(said)
	var response *textproto.Error
	if !errors.As(err, &response) {
		return sdk.WithKind(sdk.ErrUnavailable, errors.New(text))
	}
	switch code := response.Code; {
	case code == 530 || code == 534 || code == 535 || code == 538:
		return sdk.WithKind(sdk.ErrUnauthorized, errors.New(text+" (check user and pass)"))
	case code >= 500:
		return sdk.Invalid(option, "%s", text)
	}
	return sdk.WithKind(sdk.ErrUnavailable, errors.New(text))
}

// clean blanks the password in what a server says, also as PLAIN and LOGIN write it.
func (s *smtp) clean(text string) string {
	return httpclient.Clean(text, s.pass, "\x00"+s.user+"\x00"+s.pass)
}

// tlsProblem explains a failed handshake, with what to do about it; nil when err is something else.
func (s *smtp) tlsProblem(err error) error {
	var (
		name        x509.HostnameError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		network     *net.OpError
	)
	switch {
	case errors.As(err, &name):
		return sdk.Invalid("host", "the certificate of the server is not for %s; use a name it is for", s.host)
	case errors.As(err, &certificate):
		return sdk.Invalid("tls.cafile",
			"the certificate of the server cannot be trusted (%v); give the PEM file of its authority, or set tls.verify to false", certificate.Err)
	case errors.As(err, &record) && s.implicit:
		return sdk.Invalid("tls.enabled", "the server does not speak TLS on port %d; set it to false or use port 465", s.port)
	case errors.As(err, &network) && strings.HasSuffix(network.Op, " error"):
		// A TLS alert of either side has the operation "remote error" or "local error".
		return sdk.Invalid("tls.certfile", "the TLS handshake failed: %v; see also tls.minversion", network.Err)
	}
	return nil
}
