package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// explain gives a failure its kind and a text without secrets. connecting is
// the last failure to reach a broker, which an error of writing does not hold.
//
//	no connection, a timeout, a broker in trouble   sdk.ErrUnavailable
//	a refused login, a missing permission           sdk.ErrUnauthorized
//	the topic, a certificate, the size of a record  *sdk.InvalidError
func (k *kafka) explain(ctx context.Context, doing string, err, connecting error) error {
	prefix := "kafka " + k.brokers + ": " + doing + ": "
	if cause := ctx.Err(); errors.Is(cause, context.Canceled) {
		return fmt.Errorf("%s%w", prefix, cause)
	}
	if problem := tlsProblem(errors.Join(err, connecting)); problem != nil {
		return fmt.Errorf("%s%w", prefix, problem)
	}
	var response *kerr.Error
	if errors.As(err, &response) {
		return k.brokerError(response, prefix+k.clean(err))
	}
	text := k.clean(err)
	switch {
	case connecting != nil:
		text = k.clean(connecting) + "; check that the addresses which the brokers advertise can be reached from here"
	case ctx.Err() != nil:
		text = "no answer in time; check brokers and ssl"
	case errors.Is(err, io.EOF):
		text = "the broker closes the connection; check ssl and authentication"
	}
	return sdk.WithKind(sdk.ErrUnavailable, errors.New(prefix+text))
}

// brokerError classifies an error of a broker: https://kafka.apache.org/protocol#protocol_error_codes.
func (k *kafka) brokerError(response *kerr.Error, text string) error {
	switch response {
	case kerr.SaslAuthenticationFailed, kerr.IllegalSaslState:
		return sdk.WithKind(sdk.ErrUnauthorized,
			errors.New(text+" (check authentication.user, authentication.password and authentication.type)"))
	case kerr.UnsupportedSaslMechanism:
		return sdk.Invalid("authentication.type", "%s; the broker offers another one", text)
	case kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed:
		principal := "clients that do not log in"
		if k.user != "" {
			principal = k.user
		}
		return sdk.WithKind(sdk.ErrUnauthorized,
			errors.New(text+" (allow "+principal+" to describe the topic and to write to it)"))
	case kerr.UnknownTopicOrPartition:
		return sdk.Invalid("topic", "the brokers have no topic %s; create it, or name another", k.topic)
	case kerr.InvalidTopicException:
		return sdk.Invalid("topic", "%s", text)
	case kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return sdk.Invalid("topic", "%s; raise its max.message.bytes", text)
	}
	return sdk.WithKind(sdk.ErrUnavailable, errors.New(text))
}

// clean blanks the password in what a broker says, also as PLAIN sends it.
func (k *kafka) clean(err error) string {
	return httpclient.Clean(err.Error(), k.password, "\x00"+k.user+"\x00"+k.password)
}

// tlsProblem explains a failed handshake, with what to do about it; nil when err is something else.
func tlsProblem(err error) error {
	var (
		name        x509.HostnameError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		network     *net.OpError
	)
	switch {
	case errors.As(err, &name):
		return sdk.Invalid("brokers", "the certificate of a broker is not for %s; use a name it is for", name.Host)
	case errors.As(err, &certificate):
		return sdk.Invalid("tls.cafile",
			"the certificate of a broker cannot be trusted (%v); give the PEM file of its authority", certificate.Err)
	case errors.As(err, &record):
		return sdk.Invalid("ssl", "the brokers do not speak TLS on this port; set it to false or use another port")
	case errors.As(err, &network) && strings.HasSuffix(network.Op, " error"):
		// A TLS alert of either side has the operation "remote error" or "local error".
		return sdk.Invalid("tls.certfile", "the TLS handshake failed: %v; see also tls.minversion", network.Err)
	}
	return nil
}
