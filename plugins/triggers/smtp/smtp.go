// Package smtp sends a mail.
package smtp

import (
	"context"
	"crypto/tls"
	"net/mail"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one smtp trigger.
type Options struct {
	Host           string        `option:"host,required" help:"Name or address of the mail server" example:"mail.example.com"`
	Port           int           `option:"port,required" min:"1" max:"65535" help:"Port of the mail server: 587 (STARTTLS), 465 (with tls.enabled) or 25" example:"587"`
	User           string        `option:"user" help:"User name, when the server asks for a login" example:"dogwatch"`
	Pass           string        `option:"pass,secret,mask=none" help:"Password of user" example:"secret"`
	From           string        `option:"from,required,alias=from.address" help:"Sender: dogwatch@example.org or Dogwatch <dogwatch@example.org>" example:"Dogwatch <dogwatch@example.com>"`
	FromName       string        `option:"from.name" help:"Name of the sender"`
	To             string        `option:"to,required" help:"Recipients, separated by commas" example:"ana@example.com"`
	AllowCustomTLD bool          `option:"allowcustomtld" default:"false" help:"No effect: any domain is accepted" deprecated:"remove it, any domain is accepted"`
	StartTLS       string        `option:"starttls" default:"auto" choices:"auto,require,off" help:"STARTTLS: auto uses it if the server offers it, require fails without it, off never uses it; not used with tls.enabled"`
	TLS            TLS           `option:"tls"`
	Timeout        time.Duration `option:"timeout" default:"30s" help:"Longest time for one mail"`
}

// TLS are the settings of encrypted connections.
type TLS struct {
	Enabled    bool   `option:"enabled" default:"false" help:"Encrypted from the start, usually on port 465"`
	Verify     bool   `option:"verify" default:"true" help:"Verify the certificate of the server, with STARTTLS as well"`
	CAFile     string `option:"cafile" help:"PEM file with certificate authorities to trust besides the system's"`
	CertFile   string `option:"certfile" help:"PEM file with the client certificate to show"`
	KeyFile    string `option:"keyfile" help:"PEM file with the key of tls.certfile"`
	MinVersion string `option:"minversion" default:"1.2" choices:"1.0,1.1,1.2,1.3" help:"Oldest TLS version to accept"`
}

// The values of Options.StartTLS.
const (
	startTLSAuto    = "auto"
	startTLSRequire = "require"
	startTLSOff     = "off"
)

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("smtp", "Send a mail", New, kind.Messages())
}

type smtp struct {
	host       string
	port       int
	user, pass string
	from       *mail.Address
	to         []*mail.Address
	startTLS   string
	implicit   bool // TLS from the start
	tls        *tls.Config
	timeout    time.Duration
	instance   string
	agent      string
}

// New returns a trigger that sends mails through one server.
func New(env sdk.Env, o Options) (*smtp, error) {
	from, err := mail.ParseAddress(o.From)
	if err != nil {
		return nil, sdk.Invalid("from", "%q is no mail address: %v", o.From, err)
	}
	if o.FromName != "" {
		from.Name = o.FromName
	}
	to, err := mail.ParseAddressList(o.To)
	if err != nil {
		return nil, sdk.Invalid("to", "%q is no list of mail addresses: %v", o.To, err)
	}
	config, err := httpclient.TLS{
		CAFile: o.TLS.CAFile, CertFile: o.TLS.CertFile, KeyFile: o.TLS.KeyFile, MinVersion: o.TLS.MinVersion,
		Insecure: !o.TLS.Verify,
	}.Config()
	if err != nil {
		return nil, err
	}
	config.ServerName = o.Host
	if !o.TLS.Verify && env.Warn != nil {
		env.Warn("tls.verify: the certificate of the mail server is not verified; prefer tls.cafile (WUD read this option the other way round)")
	}
	return &smtp{
		host: o.Host, port: o.Port, user: o.User, pass: o.Pass, from: from, to: to,
		startTLS: o.StartTLS, implicit: o.TLS.Enabled, tls: config, timeout: o.Timeout,
		instance: env.Instance, agent: env.UserAgent,
	}, nil
}

// Run sends one mail to all recipients over a connection of its own.
func (s *smtp) Run(ctx context.Context, req trigger.Request) error {
	ctx, stop := s.limited(ctx)
	defer stop()
	return s.send(ctx, s.compose(req, time.Now()))
}

// Probe implements sdk.Prober: it connects, logs in and sends no mail.
func (s *smtp) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	ctx, stop := s.limited(ctx)
	defer stop()
	client, closeConn, err := s.open(ctx)
	if err != nil {
		return sdk.ProbeResult{}, err
	}
	defer closeConn()
	_ = client.Quit() // it has responded; saying goodbye is a courtesy
	summary := "mail server " + s.server() + " responds"
	if s.user != "" || s.pass != "" {
		summary += " and accepts the login"
	}
	return sdk.ProbeResult{Summary: summary}, nil
}

// limited returns a context that ends after the timeout of one mail.
func (s *smtp) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout > 0 {
		return context.WithTimeout(ctx, s.timeout)
	}
	return context.WithCancel(ctx)
}
