package mqtt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// connectTimeout bounds the way to a connection: network, TLS and the broker's consent.
const connectTimeout = 10 * time.Second

// TLS are the settings of mqtts://, tls:// and wss://.
type TLS struct {
	ClientKey          string `option:"clientkey" help:"PEM file with the key of tls.clientcert"`
	ClientCert         string `option:"clientcert" help:"PEM file with the client certificate to show"`
	CAChain            string `option:"cachain" help:"PEM file with certificate authorities to trust besides the system's"`
	RejectUnauthorized bool   `option:"rejectunauthorized" default:"true" help:"Verify the broker's certificate; false: anyone on the way can read and change everything"`
}

// address is where a broker is and how to get there.
type address struct {
	url       *url.URL // without user and password, with a port
	webSocket bool
	tls       *tls.Config // nil for a connection in the clear
	clientID  string      // "" for a new one each time
	user      string
	password  string
}

// schemes says of each scheme whether it is a web socket, whether it is
// encrypted, and its port.
var schemes = map[string]struct {
	webSocket, tls bool
	port           string
}{
	"mqtt": {false, false, "1883"}, "tcp": {false, false, "1883"},
	"mqtts": {false, true, "8883"}, "tls": {false, true, "8883"},
	"ws": {true, false, "80"}, "wss": {true, true, "443"},
}

// address checks and completes what leads to the broker.
func (o Options) address(warn func(string)) (address, error) {
	scheme, known := schemes[strings.ToLower(o.URL.Scheme)]
	if !known || o.URL.Hostname() == "" {
		return address{},
			sdk.Invalid("url", "want mqtt://HOST, mqtts://HOST, ws://HOST or wss://HOST, got %s", sdk.RedactURL(o.URL))
	}
	u := *o.URL
	u.User = nil
	a := address{url: &u, webSocket: scheme.webSocket, clientID: o.ClientID, user: o.User, password: o.Password}
	if o.User == "" {
		a.user = o.URL.User.Username()
		a.password, _ = o.URL.User.Password()
	}
	// WUD takes a client certificate as a wish for TLS, whatever the scheme says.
	encrypted := scheme.tls || o.TLS.ClientCert != "" && o.TLS.ClientKey != ""
	if encrypted && !scheme.tls {
		scheme = schemes["mqtts"]
		if a.webSocket {
			scheme, u.Scheme = schemes["wss"], "wss"
		}
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), scheme.port)
	}
	if !encrypted {
		if o.TLS.CAChain != "" && warn != nil {
			warn("tls.cachain has no effect with " + u.Scheme + "://; for an encrypted connection use mqtts:// or wss://")
		}
		return a, nil
	}
	var err error
	a.tls, err = o.TLS.config(u.Hostname())
	return a, err
}

// config returns the configuration these options describe, which httpclient.TLS calls by other names.
func (t TLS) config(host string) (*tls.Config, error) {
	config, err := httpclient.TLS{
		CAFile: t.CAChain, CertFile: t.ClientCert, KeyFile: t.ClientKey, Insecure: !t.RejectUnauthorized,
	}.Config()
	if invalid := (*sdk.InvalidError)(nil); errors.As(err, &invalid) {
		names := strings.NewReplacer(
			"tls.cafile", "tls.cachain", "tls.certfile", "tls.clientcert", "tls.keyfile", "tls.clientkey")
		f := invalid.Fields[0]
		return nil, sdk.Invalid(names.Replace(f.Field), "%s", names.Replace(f.Detail))
	}
	config.ServerName = host
	return config, nil
}

// String is the address as it may be shown.
func (a address) String() string { return sdk.RedactURL(a.url) }

// open makes the network connection. A web socket ends its attempt by time only.
func (a address) open(ctx context.Context) (net.Conn, error) {
	if a.webSocket {
		return paho.NewWebsocket(a.url.String(), a.tls, connectTimeout, nil, nil)
	}
	dialer := net.Dialer{Timeout: connectTimeout}
	if a.tls == nil {
		return dialer.DialContext(ctx, "tcp", a.url.Host)
	}
	return (&tls.Dialer{NetDialer: &dialer, Config: a.tls}).DialContext(ctx, "tcp", a.url.Host)
}

// explain gives an error of a connection its kind and says what to do about it.
func (a address) explain(err error) error {
	var (
		several   interface{ Unwrap() []error }
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		record    tls.RecordHeaderError
		network   *net.OpError
	)
	if errors.As(err, &several) { // that it is of the network, and what it is
		err = several.Unwrap()[len(several.Unwrap())-1]
	}
	switch {
	case errors.Is(err, packets.ErrorRefusedBadUsernameOrPassword), errors.Is(err, packets.ErrorRefusedNotAuthorised):
		return sdk.WithKind(sdk.ErrUnauthorized, errors.New("the broker refuses the login; check user and password"))
	case errors.Is(err, packets.ErrorRefusedIDRejected):
		return sdk.Invalid("clientid", "is refused by the broker")
	case errors.As(err, &authority):
		return sdk.Invalid("tls.cachain",
			"the broker's certificate is signed by an unknown authority; give that authority's PEM file")
	case errors.As(err, &name):
		return sdk.Invalid("url", "the broker's certificate is not for %s; use a name it is for", a.url.Hostname())
	case errors.As(err, &record):
		return sdk.Invalid("url", "the broker does not speak TLS on this port; use mqtt:// or another port")
	case errors.As(err, &network) && network.Op == "remote error":
		return sdk.WithKind(sdk.ErrUnauthorized,
			fmt.Errorf("the broker refuses the TLS connection: %w; check tls.clientcert", err))
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		text := "the broker hung up during the login"
		if a.tls != nil && len(a.tls.Certificates) == 0 {
			text += "; it may want to see a tls.clientcert"
		}
		err = errors.New(text)
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}
