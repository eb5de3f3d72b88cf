package registries_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
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

// internet is hosts under their real names. A proxy leads there, and an
// authority of its own vouches for them, so that types are tested as they are
// used: with nothing but their options.
type internet struct {
	// options are the proxy and the authority.
	options map[string]any

	mu    sync.Mutex
	sites map[string]http.Handler
	seen  map[string][]string // what came in the header Authorization, by host
	all   map[string]int      // requests, by host
}

// newInternet starts an internet of sites, by host.
func newInternet(t *testing.T, sites map[string]http.Handler) *internet {
	t.Helper()
	n := &internet{sites: sites, seen: map[string][]string{}, all: map[string]int{}}
	ca := newAuthority(t)
	hosts := httptest.NewUnstartedServer(http.HandlerFunc(n.serve))
	hosts.TLS = &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return ca.certify(hello.ServerName) },
	}
	hosts.StartTLS()
	t.Cleanup(hosts.Close)
	proxy := httptest.NewServer(tunnel(t, hosts.Listener.Addr().String(), n))
	t.Cleanup(proxy.Close)
	n.options = map[string]any{"proxy": proxy.URL, "tls.cafile": ca.file}
	return n
}

// with returns options for an instance in this internet.
func (n *internet) with(options map[string]any) map[string]any {
	all := maps.Clone(n.options)
	maps.Copy(all, options)
	return all
}

func (n *internet) serve(w http.ResponseWriter, r *http.Request) {
	host := strings.ToLower(r.Host)
	n.mu.Lock()
	n.all[host]++
	if a := r.Header.Get("Authorization"); a != "" {
		n.seen[host] = append(n.seen[host], a)
	}
	site, known := n.sites[host]
	n.mu.Unlock()
	if !known {
		http.Error(w, "no such host", http.StatusBadGateway)
		return
	}
	site.ServeHTTP(w, r)
}

// add puts a site on the internet.
func (n *internet) add(host string, site http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sites[host] = site
}

// shown returns the hosts that were shown credentials, which tokens are not.
func (n *internet) shown() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var hosts []string
	for host, headers := range n.seen {
		if slices.ContainsFunc(headers, func(h string) bool { return !strings.HasPrefix(h, "Bearer sim-token-") }) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// requests returns how many requests a host got, and how many of them had the header Authorization.
func (n *internet) requests(host string) (all, authorized int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[host], len(n.seen[host])
}

// tunnel is a proxy that leads every tunnel to one server, whatever the request.
func tunnel(t *testing.T, server string, plain *internet) http.HandlerFunc {
	var open sync.WaitGroup
	t.Cleanup(open.Wait)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			r.Host = r.URL.Host
			plain.serve(w, r)
			return
		}
		open.Add(1) // before the server forgets the connection
		defer open.Done()
		far, err := net.Dial("tcp", server)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			far.Close()
			return
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n") // the client may have gone
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			open.Go(func() {
				_, _ = io.Copy(way[0], way[1]) // ends when either side does
				way[0].Close()
				way[1].Close()
			})
		}
	}
}

// authority is a certificate authority that no machine knows.
type authority struct {
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{file: filepath.Join(t.TempDir(), "ca.pem"), key: key}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// certify makes a certificate for a host; "" stands for this machine.
func (a *authority) certify(host string) (*tls.Certificate, error) {
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter}
	if host == "" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
}
