package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"os"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// defaultTimeout bounds a request when Options.Timeout is 0: no request is without a deadline.
const defaultTimeout = 30 * time.Second

// Options are the settings of a client. Embed them in a type's own options:
//
//	type Options struct {
//		URL *url.URL `option:"url,required" help:"Server address"`
//		httpclient.Options
//	}
type Options struct {
	Timeout time.Duration `option:"timeout" default:"30s" help:"Longest time for a whole request, its answer included"`
	Proxy   *url.URL      `option:"proxy,secret,mask=url" help:"Proxy for every request, http://, https:// or socks5://, with user:password@ when it asks for them; without it HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply"`
	TLS     TLS           `option:"tls"`
}

// TLS are the settings of TLS connections. Its problems are reported under the
// names tls.cafile, tls.certfile and tls.keyfile.
type TLS struct {
	CAFile     string `option:"cafile" help:"PEM file with certificate authorities to trust besides the system's"`
	CertFile   string `option:"certfile" help:"PEM file with the client certificate to show"`
	KeyFile    string `option:"keyfile" help:"PEM file with the key of tls.certfile"`
	Insecure   bool   `option:"insecure" default:"false" help:"Do not verify certificates: anyone on the way can read and change everything"`
	MinVersion string `option:"minversion" default:"1.2" choices:"1.0,1.1,1.2,1.3" help:"Oldest TLS version to accept"`
}

var tlsVersions = map[string]uint16{
	"":    tls.VersionTLS12,
	"1.0": tls.VersionTLS10,
	"1.1": tls.VersionTLS11,
	"1.2": tls.VersionTLS12,
	"1.3": tls.VersionTLS13,
}

// Config returns the configuration these options describe. A file that cannot
// be used is an *sdk.InvalidError naming its option.
func (o TLS) Config() (*tls.Config, error) {
	minVersion, known := tlsVersions[o.MinVersion]
	if !known {
		return nil, sdk.Invalid("tls.minversion", "want 1.0, 1.1, 1.2 or 1.3, got %q", o.MinVersion)
	}
	config := &tls.Config{MinVersion: minVersion, InsecureSkipVerify: o.Insecure}
	if o.CAFile != "" {
		pool, err := trusted(o.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if o.CertFile == "" && o.KeyFile == "" {
		return config, nil
	}
	certificate, err := o.certificate()
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{certificate}
	return config, nil
}

// trusted is the system's pool with the authorities of a file added. A machine
// without a pool of its own, such as a scratch image, has those of the file only.
func trusted(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, sdk.Invalid("tls.cafile", "%v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, sdk.Invalid("tls.cafile", "%s holds no PEM certificate", file)
	}
	return pool, nil
}

func (o TLS) certificate() (tls.Certificate, error) {
	var none tls.Certificate
	switch {
	case o.CertFile == "":
		return none, sdk.Invalid("tls.certfile", "is required with tls.keyfile")
	case o.KeyFile == "":
		return none, sdk.Invalid("tls.keyfile", "is required with tls.certfile")
	}
	certificate, err := os.ReadFile(o.CertFile)
	if err != nil {
		return none, sdk.Invalid("tls.certfile", "%v", err)
	}
	key, err := os.ReadFile(o.KeyFile)
	if err != nil {
		return none, sdk.Invalid("tls.keyfile", "%v", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return none, sdk.Invalid("tls.certfile", "does not go with tls.keyfile: %v", err)
	}
	return pair, nil
}
