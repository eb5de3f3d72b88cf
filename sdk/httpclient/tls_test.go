package httpclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// authority is a certificate authority made for one test.
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.certificate, a.key = a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	})
	a.file, _ = a.write(t, "ca", a.certificate, a.key)
	return a
}

func (a *authority) sign(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore = template.NotAfter.Add(-24 * time.Hour)
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

func (a *authority) write(
	t *testing.T, name string, certificate *x509.Certificate, key *ecdsa.PrivateKey,
) (certFile, keyFile string) {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: certificate.Raw}, keyFile: {Type: "EC PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// serve starts a TLS server with a certificate of this authority.
func (a *authority) serve(t *testing.T, template *x509.Certificate, change func(*tls.Config)) *httptest.Server {
	t.Helper()
	certificate, key := a.sign(t, template)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}}}
	if change != nil {
		change(s.TLS)
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func local(until time.Duration) *x509.Certificate {
	return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(until)}
}

func get(t *testing.T, o Options, address string) (string, error) {
	t.Helper()
	resp, err := newClient(t, o).Do(request(t, "GET", address+"/s3cret", ""))
	if err != nil {
		checkNoSecret(t, err)
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestTLSErrorsNameTheRemedy(t *testing.T) {
	ca := newAuthority(t)
	good := ca.serve(t, local(time.Hour), nil)
	trusting := Options{TLS: TLS{CAFile: ca.file}}

	if text, err := get(t, trusting, good.URL); err != nil || text != "HTTP/2.0" {
		t.Errorf("with its authority: %q, %v", text, err)
	}
	if _, err := get(t, Options{TLS: TLS{Insecure: true}}, good.URL); err != nil {
		t.Errorf("insecure: %v", err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	tests := []struct {
		name, address string
		options       Options
		want          string
		unavailable   bool
	}{
		{"unknown authority", good.URL, Options{},
			"tls.cafile: the certificate of 127.0.0.1 is signed by an unknown authority", false},
		{"other name",
			ca.serve(t, &x509.Certificate{DNSNames: []string{"other"}, NotAfter: time.Now().Add(time.Hour)}, nil).URL,
			trusting, "not for 127.0.0.1", false},
		{"expired", ca.serve(t, local(-time.Hour), nil).URL, trusting, "expired", true},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), trusting, "does not speak TLS", false},
		{"too old", ca.serve(t, local(time.Hour), func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }).URL, Options{
			TLS: TLS{CAFile: ca.file, MinVersion: "1.3"},
		}, "tls.minversion", false},
		{"wants a certificate", ca.serve(t, local(time.Hour), func(c *tls.Config) {
			// With TLS 1.3 a client gets the alert only after it has begun to send, and may see a broken connection instead.
			c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
		}).URL, trusting, "tls.certfile", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := get(t, test.options, test.address)
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				errors.Is(err, sdk.ErrUnavailable) != test.unavailable {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	ca := newAuthority(t)
	s := ca.serve(t, local(time.Hour), func(c *tls.Config) {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = x509.NewCertPool()
		c.ClientCAs.AddCert(ca.certificate)
	})
	certificate, key := ca.sign(t, &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotAfter: time.Now().Add(time.Hour),
	})
	certFile, keyFile := ca.write(t, "client", certificate, key)
	if _, err := get(t, Options{TLS: TLS{CAFile: ca.file, CertFile: certFile, KeyFile: keyFile}}, s.URL); err != nil {
		t.Error(err)
	}
}

func TestTLSOptions(t *testing.T) {
	ca := newAuthority(t)
	certificate, key := ca.sign(t, local(time.Hour))
	certFile, keyFile := ca.write(t, "a", certificate, key)
	_, otherKey := ca.write(t, "b", ca.certificate, ca.key)
	empty := filepath.Join(ca.dir, "empty")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(ca.dir, "missing")
	tests := []struct {
		tls         TLS
		field, want string
	}{
		{TLS{CAFile: missing}, "tls.cafile", "no such file"},
		{TLS{CAFile: empty}, "tls.cafile", "no PEM certificate"},
		{TLS{CertFile: certFile}, "tls.keyfile", "required"},
		{TLS{KeyFile: keyFile}, "tls.certfile", "required"},
		{TLS{CertFile: missing, KeyFile: keyFile}, "tls.certfile", "no such file"},
		{TLS{CertFile: certFile, KeyFile: missing}, "tls.keyfile", "no such file"},
		{TLS{CertFile: certFile, KeyFile: otherKey}, "tls.certfile", "does not go with"},
		{TLS{CertFile: empty, KeyFile: empty}, "tls.certfile", "does not go with"},
		{TLS{MinVersion: "2"}, "tls.minversion", "1.3"},
	}
	for _, test := range tests {
		_, err := New(sdk.Env{}, Options{TLS: test.tls})
		var invalid *sdk.InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != test.field || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %s: %s", test.tls, err, test.field, test.want)
		}
	}
	var warned string
	if _, err := New(sdk.Env{Warn: func(m string) { warned = m }}, Options{TLS: TLS{Insecure: true}}); err != nil ||
		!strings.Contains(warned, "tls.cafile") {
		t.Errorf("insecure warns %q, %v", warned, err)
	}
}

func TestOptionsAreDeclaredWell(t *testing.T) {
	type embedding struct {
		Options
	}
	schema, err := option.Of[embedding]()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"timeout", "proxy", "tls.cafile", "tls.certfile", "tls.keyfile", "tls.insecure",
		"tls.minversion"} {
		if _, has := schema.Find(name); !has {
			t.Errorf("no option %s", name)
		}
	}
	o, err := option.Decode[embedding](map[string]any{"proxy": "socks5://u:p@host:1080", "tls.insecure": "true"})
	if err != nil || o.Timeout != defaultTimeout || o.Proxy.Scheme != "socks5" || !o.TLS.Insecure ||
		o.TLS.MinVersion != "1.2" {
		t.Errorf("decoded %+v, %v", o, err)
	}
}
