package e2e

import (
	"bufio"
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
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority is a certificate authority that vouches for any host.
type authority struct {
	// file is its certificate (PEM).
	file string
	root *x509.Certificate
	key  *ecdsa.PrivateKey

	mu     sync.Mutex
	issued map[string]*tls.Certificate
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	a := &authority{file: filepath.Join(t.TempDir(), "ca.pem"), key: key, issued: map[string]*tls.Certificate{}}
	a.root = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the test"},
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, a.root, a.root, key.Public(), key)
	must(t, err)
	must(t, os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return a
}

// certificate returns one for a name or an address.
func (a *authority) certificate(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.issued[host]; c != nil {
		return c, nil
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(2 + len(a.issued))), Subject: pkix.Name{CommonName: host},
		NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
	a.issued[host] = c
	return c, nil
}

// files writes a certificate and its key where other programs read them.
func (a *authority) files(t testing.TB, host string) (certificate, key string) {
	t.Helper()
	c, err := a.certificate(host)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(a.key)
	must(t, err)
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	must(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certificate, key
}

// internet is every host there is, behind a proxy that answers in their name.
type internet struct {
	*authority
	// proxy is its host and port, login what it asks for as user:password; "" lets every client through.
	proxy, login string

	inner *http.Server
	conns chan net.Conn
	ended chan struct{}

	mu    sync.Mutex
	sites map[string]*http.ServeMux
	// shown are the users and passwords that each host was shown.
	shown map[string][]string
	// lost are the requests to hosts that do not exist.
	lost []string
}

func newInternet(t testing.TB, login string) *internet {
	t.Helper()
	n := &internet{
		authority: newAuthority(t), login: login, conns: make(chan net.Conn), ended: make(chan struct{}),
		sites: map[string]*http.ServeMux{}, shown: map[string][]string{},
	}
	n.inner = &http.Server{
		Handler: http.HandlerFunc(n.respond), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: maxWait,
	}
	go func() { _ = n.inner.Serve(n) }() // until Close
	outer := httptest.NewServer(http.HandlerFunc(n.connect))
	n.proxy = outer.Listener.Addr().String()
	t.Cleanup(func() {
		n.inner.Close()
		outer.Close()
	})
	return n
}

// site returns the paths of a host, "name" or "name:port" for another port than that of HTTPS.
func (n *internet) site(host string) *http.ServeMux {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sites[host] == nil {
		n.sites[host] = http.NewServeMux()
	}
	return n.sites[host]
}

// connect opens the tunnel to a host, which ends here.
func (n *internet) connect(w http.ResponseWriter, r *http.Request) {
	user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	switch {
	case r.Method != http.MethodConnect:
		http.Error(w, "this proxy is for https only", http.StatusMethodNotAllowed)
		return
	case n.login != "" && user+":"+password != n.login:
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		http.Error(w, "no host and port", http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client has gone
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	tunnel := tls.Server(read{conn, buffered.Reader},
		&tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return n.certificate(name)
		}})
	select {
	case n.conns <- tunnel:
	case <-n.ended:
		conn.Close()
	}
}

// read is a connection of which the first bytes have been read.
type read struct {
	net.Conn
	from *bufio.Reader
}

func (r read) Read(p []byte) (int, error) { return r.from.Read(p) }

// Accept, Close and Addr make the tunnels a net.Listener.
func (n *internet) Accept() (net.Conn, error) {
	select {
	case conn := <-n.conns:
		return conn, nil
	case <-n.ended:
		return nil, errors.New("closed")
	}
}

// Close ends Accept.
func (n *internet) Close() error {
	close(n.ended)
	return nil
}

// Addr returns nothing of use.
func (n *internet) Addr() net.Addr { return &net.TCPAddr{} }

// logins returns the users and passwords that each host was shown.
func (n *internet) logins() map[string][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.shown)
}

// unknownHosts returns the requests to hosts that do not exist.
func (n *internet) unknownHosts() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lost)
}

// respond serves a request with the handler of its host.
func (n *internet) respond(w http.ResponseWriter, r *http.Request) {
	host := strings.TrimSuffix(r.Host, ":443")
	n.mu.Lock()
	site := n.sites[host]
	if site == nil {
		n.lost = append(n.lost, r.Method+" "+host+r.URL.Path)
	}
	if user, password, has := r.BasicAuth(); has && !slices.Contains(n.shown[host], user+":"+password) {
		n.shown[host] = append(n.shown[host], user+":"+password)
		slices.Sort(n.shown[host])
	}
	n.mu.Unlock()
	if site == nil {
		http.Error(w, "there is no such host", http.StatusBadGateway)
		return
	}
	site.ServeHTTP(w, r)
}
