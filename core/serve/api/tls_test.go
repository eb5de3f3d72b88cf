package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
)

// certificate writes a key and a certificate of localhost.
func certificate(t *testing.T) (key, cert string, pool *x509.CertPool) {
	t.Helper()
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))
	folder := t.TempDir()
	key, cert = filepath.Join(folder, "key.pem"), filepath.Join(folder, "cert.pem")
	for name, block := range map[string]*pem.Block{
		key:  {Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(private))},
		cert: {Type: "CERTIFICATE", Bytes: der},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(der)))
	return key, cert, pool
}

func TestTLS(t *testing.T) {
	key, cert, pool := certificate(t)
	w := start(t,
		[]string{"DOGWATCH_SERVER_TLS_ENABLED=true", "DOGWATCH_SERVER_TLS_KEY=" + key, "DOGWATCH_SERVER_TLS_CERT=" + cert})
	w.put(nginx())
	for protocol, http2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
		w.client.Transport.(*validating).next = transport
		got := w.get("/api/containers").want(200)
		same(t, "containers", got.names(), []string{"nginx"})
		resp, err := transport.RoundTrip(request(t, "GET", w.url+"/health"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		same(t, "protocol", resp.Proto, protocol)
	}
	same(t, "tls", at(w.get("/api/server").object(), "configuration.tls"),
		any(map[string]any{"enabled": true, "key": key, "cert": cert}))
	// Never both: plain HTTP gets Go's hint that this is an HTTPS server.
	plain, err := http.Get("http" + strings.TrimPrefix(w.url, "https") + "/health")
	if err != nil {
		t.Fatal(err)
	}
	plain.Body.Close()
	same(t, "plain HTTP", plain.StatusCode, 400)
}

func TestListenErrorsNameSetting(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var conf config.Config
	conf.Server = config.Server{Enabled: true, Host: "127.0.0.1"}
	opt := Options{Config: &conf, Log: hclog.NewNullLogger()}
	conf.Server.TLS = config.TLS{Enabled: true, Key: "nokey.pem", Cert: "nocert.pem"}
	if _, err := Listen(opt); err == nil || !strings.Contains(err.Error(), "server.tls.cert") ||
		!strings.Contains(err.Error(), "nocert.pem") {
		t.Errorf("a missing certificate: %v", err)
	}
	conf.Server.TLS.Enabled = false
	conf.Server.Port = must(net.LookupPort("tcp", port))
	if _, err := Listen(opt); err == nil || !strings.Contains(err.Error(), "server.port") ||
		!strings.Contains(err.Error(), port) {
		t.Errorf("a port that is taken: %v", err)
	}
	conf.Server.Enabled = false
	if server, err := Listen(opt); server != nil || err != nil {
		t.Errorf("a server that is off: %v, %v", server, err)
	}
}
