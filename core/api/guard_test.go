package api

import (
	"context"
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

	"github.com/dogwatch/dogwatch/core/auth"
	"github.com/dogwatch/dogwatch/core/config"
)

func request(t testing.TB, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestForeignHostNamesAreRefused(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, []string{"DOGWATCH_SERVER_ALLOWEDHOSTS=dog.example.org,192.0.2.7", "DOGWATCH_PUBLIC_URL=https://watch.example.com:8443/x"})
	any := start(t, []string{"DOGWATCH_SERVER_ALLOWEDHOSTS=*"})
	for host, welcome := range map[string]bool{
		"localhost": true, "localhost:3000": true, "LOCALHOST.": true, "app.localhost": true, "127.0.0.1": true, "127.0.0.1:3000": true, "192.168.1.5:80": true,
		"[::1]": true, "[::1]:3000": true, "[fe80::1%25eth0]:3000": true, "nas": true, "dogwatch:3000": true, "nas.local": true, "nas.lan:3000": true,
		"nas.home.arpa": true, "host.docker.internal": true, own: true, "dog.example.org": true, "DOG.example.org:3000": true, "dog.example.org.": true,
		"watch.example.com": true, "watch.example.com:1": true,
		"evil.example.org": false, "dog.example.org.evil.com": false, "evil.com:3000": false, "local.evil.com": false, "127.0.0.1.nip.io": false,
		"notlocal": true, "xlocal.com": false, "example.org": false, "sub.dog.example.org": false, "localhost.evil.com": false, "1.2.3.4.5": false,
	} {
		status := http.StatusOK
		if !welcome {
			status = http.StatusMisdirectedRequest
		}
		if got := w.get("/api/containers", "Host", host); got.status != status {
			t.Errorf("host %s: status %d, want %d", host, got.status, status)
		}
		if got := w.do("POST", "/api/containers/watch", "", "Host", host); got.status != status {
			t.Errorf("POST, host %s: status %d, want %d", host, got.status, status)
		}
		any.get("/api/containers", "Host", host).want(200)
		// Health checks use whatever name they know.
		w.get("/health", "Host", host).want(200)
		w.get("/API/Health/", "Host", host).want(200)
	}
	w.get("/api/containers", "Host", "evil.com").fails(421, "evil.com", "server.allowedhosts", "public.url")
	w.get("/health/../api/containers", "Host", "evil.com").fails(421)
}

// TestForeignHostNamesAreExplained: to people by a page, to the operator by the log, which nobody can fill.
func TestForeignHostNamesAreExplained(t *testing.T) {
	w := locked(t, nil, func(o *Options) { o.Pages = formPages{} })
	checked := w.client
	w.client = http.DefaultClient // the page is not in the document
	const html = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, path := range []string{"/", "/containers", "/login", "/nowhere"} {
		got := w.get(path, "Host", "dog.example.org:8443", "Accept", html).want(421)
		page := string(got.body)
		for _, part := range []string{"<strong>dog.example.org</strong>", "DOGWATCH_PUBLIC_URL=https://dog.example.org", "DOGWATCH_SERVER_ALLOWEDHOSTS=dog.example.org"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page at %s lacks %s", path, part)
			}
		}
		if h := got.header; !strings.HasPrefix(h.Get("Content-Type"), "text/html") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || strings.Contains(page, w.opt.Version) {
			t.Errorf("%s: %v", path, h)
		}
	}
	w.client = checked
	for _, got := range []answer{
		w.get("/", "Host", "dog.example.org"), w.get("/api/containers", "Host", "dog.example.org", "Accept", html), w.get("/containers", "Host", "dog.example.org", "Accept", "application/json"),
	} {
		got.fails(421, "dog.example.org", "server.allowedhosts", "public.url")
	}
	w.client = http.DefaultClient
	evil := string(w.get("/", "Host", "<script>alert(1)</script>.example.org", "Accept", html).body)
	if strings.Contains(evil, "<script>") {
		t.Errorf("the page has the name as it came: %s", evil)
	}
	for range 50 {
		w.get("/", "Host", "evil.example.com").want(421)
	}
	log := w.log.String()
	if n := strings.Count(log, "server.allowedhosts"); n != 1 || !strings.Contains(log, "dog.example.org") || !strings.Contains(log, "127.0.0.1") {
		t.Errorf("the log has %d lines about it: %s", n, log)
	}
}

// TestCrossSiteRequests has what browsers send from where, and whether it may change something.
func TestCrossSiteRequests(t *testing.T) {
	closed := start(t, []string{"DOGWATCH_PUBLIC_URL=https://watch.example.com/dog/"})
	one := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=https://dash.example.org"})
	all := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
	for _, test := range []struct {
		name             string
		headers          []string
		closed, one, all bool
	}{
		{"no browser", nil, true, true, true},
		{"own page", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:3000"}, true, true, true},
		{"typed by hand", []string{"Sec-Fetch-Site", "none"}, true, true, true},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.com"}, false, false, true},
		{"a sibling", []string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.localhost"}, false, false, true},
		{"the allowed dashboard", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://dash.example.org"}, false, true, true},
		{"the dashboard without TLS", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://dash.example.org"}, false, false, true},
		{"a sandboxed frame", []string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, false, false, true},
		{"plain http, own page", []string{"Origin", "http://localhost:3000"}, true, true, true},
		{"plain http, another site", []string{"Origin", "http://evil.com"}, false, false, true},
		{"plain http, sandboxed", []string{"Origin", "null"}, false, false, true},
		{"behind a proxy that changes the name", []string{"Origin", "https://watch.example.com"}, true, false, true},
		{"another port", []string{"Origin", "http://localhost:4000"}, false, false, true},
	} {
		for w, welcome := range map[*world]bool{closed: test.closed, one: test.one, all: test.all} {
			status := http.StatusOK
			if !welcome {
				status = http.StatusForbidden
			}
			headers := append([]string{"Host", "localhost:3000"}, test.headers...)
			for _, path := range []string{"/api/containers/watch", "/API/Containers/Watch/"} {
				got := w.do("POST", path, "", headers...)
				if got.status != status {
					t.Errorf("%s (cors %v): status %d, want %d", test.name, w.opt.Config.Server.CORS.Origin, got.status, status)
				}
			}
			// Reading changes nothing, and the browser keeps the answer from the page.
			w.get("/api/containers", headers...).want(200)
			w.do("POST", "/health", "", headers...).want(405)
		}
	}
	closed.do("POST", "/api/containers/watch", "", "Sec-Fetch-Site", "cross-site").fails(403, "cross-site", "server.cors")
	closed.do("DELETE", "/api/containers/x", "", "Sec-Fetch-Site", "cross-site").fails(403, "cross-site")
}

func TestCORS(t *testing.T) {
	off := start(t, nil)
	if h := off.get("/api/containers", "Origin", "https://dash.example.org").want(200).header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", h)
	}
	preflight := []string{"Origin", "https://dash.example.org", "Sec-Fetch-Site", "cross-site", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "Authorization, Content-Type"}
	off.do("OPTIONS", "/api/containers/watch", "", preflight...).want(200) // without any of CORS' headers

	for origin, vary := range map[string]string{"*": "Access-Control-Request-Headers", "https://dash.example.org": "Origin, Access-Control-Request-Headers"} {
		w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=" + origin, "DOGWATCH_SERVER_CORS_METHODS=GET,POST"})
		for _, path := range []string{"/api/containers/watch", "/api/any/path", "/API/containers/", "/api"} {
			h := w.do("OPTIONS", path, "", preflight...).want(204).header
			same(t, "origin", h.Get("Access-Control-Allow-Origin"), origin)
			same(t, "methods", h.Get("Access-Control-Allow-Methods"), "GET,POST")
			same(t, "headers", h.Get("Access-Control-Allow-Headers"), "Authorization, Content-Type")
			same(t, "vary", strings.Join(h.Values("Vary"), ", "), vary)
			same(t, "credentials", h.Get("Access-Control-Allow-Credentials"), "")
		}
		for _, got := range []answer{w.get("/api/app"), w.get("/api/app", "Origin", "https://other.example.org"), w.get("/api/nope"), w.get("/api/app", "Host", "evil.com")} {
			same(t, "origin on every answer", got.header.Get("Access-Control-Allow-Origin"), origin)
			same(t, "vary by origin", strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Origin"), origin != "*")
		}
		w.do("OPTIONS", "/api/app", "", "Origin", "https://dash.example.org").want(200) // no preflight
	}
}

// TestCORSReachesTheAPIAlone: pages, logins and all else stay with their own origin.
func TestCORSReachesTheAPIAlone(t *testing.T) {
	w := locked(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"}, func(o *Options) { o.Pages = formPages{} })
	w.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // pages are not in the document
	preflight := []string{"Origin", "http://localhost:4000", "Sec-Fetch-Site", "same-site", "Access-Control-Request-Method", "POST"}
	for _, path := range []string{"/", "/login", "/logout", "/settings/tokens", "/auth/login", "/auth/logout", "/auth/remember", "/auth/user", "/health", "/metrics", "/apidocs", "/static/app.css"} {
		for _, got := range []answer{w.do("OPTIONS", path, "", preflight...), w.get(path, "Origin", "http://localhost:4000")} {
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s has the header %s", path, name)
				}
			}
		}
		if path == "/health" {
			continue // open to all, and there is nothing to change
		}
		w.do("POST", path, "", "Origin", "http://localhost:4000", "Sec-Fetch-Site", "same-site", "Content-Type", "application/x-www-form-urlencoded").want(403)
	}
}

// TestCrossOriginRequestsWithASession: a page on another port of the same host
// is on the same site, so that the browser adds the session; it must be of no use there.
func TestCrossOriginRequestsWithASession(t *testing.T) {
	for _, origin := range []string{"*", "http://localhost:4000"} {
		w := locked(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=" + origin, "DOGWATCH_PUBLIC_URL=https://watch.example.com"})
		_, id, _ := strings.Cut(w.session(), "=")
		session, token := cookieName+"_3000="+id, w.token(auth.Write, time.Time{})
		for _, from := range [][]string{{"Origin", "http://localhost:4000"}, {"Origin", "http://localhost:4000", "Sec-Fetch-Site", "same-site"}} {
			from := append([]string{"Host", "localhost:3000"}, from...)
			for _, path := range []string{"/api/tokens", "/API/Tokens/", "/api/containers/watch", "/api/log"} {
				w.do("POST", path, `{"name":"stolen","scope":"write","level":"info"}`, append(from, "Cookie", session, "Content-Type", "text/plain")...).fails(403, "cross-site", "session")
			}
			w.do("POST", "/api/containers/watch", "", append(from, "Cookie", session, "Authorization", "Bearer "+token)...).fails(403, "session")
			w.do("DELETE", "/api/tokens/1", "", append(from, "Cookie", session)...).fails(403, "session")
			// With a token of its own the page may do what the token may, and reading changes nothing.
			w.do("POST", "/api/containers/watch", "", append(from, "Authorization", "Bearer "+token)...).want(200)
			w.get("/api/containers", append(from, "Cookie", session)...).want(200)
		}
		// What another program on the host keeps under a name like ours is no session.
		w.do("POST", "/api/containers/watch", "", "Host", "localhost:3000", "Origin", "http://localhost:4000", "Cookie", cookieName+"_3001="+id, "Authorization", "Bearer "+token).want(200)
		for _, from := range [][]string{{"Origin", "http://localhost:3000"}, {"Origin", "https://watch.example.com"}, {"Sec-Fetch-Site", "same-origin"}, nil} {
			w.do("POST", "/api/containers/watch", "", append([]string{"Host", "localhost:3000", "Cookie", session}, from...)...).want(200)
		}
		if all := w.get("/api/tokens", "Host", "localhost:3000", "Cookie", session).want(200).list(); len(all) != 1 {
			t.Errorf("there are %d tokens, want the one of the test", len(all))
		}
	}
}

func TestOriginThatIsNone(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true", "DOGWATCH_SERVER_CORS_ORIGIN=dash.example.org"})
	w.do("POST", "/api/containers/watch", "", "Sec-Fetch-Site", "cross-site", "Origin", "https://dash.example.org").fails(403)
	if !strings.Contains(w.log.String(), "server.cors.origin") {
		t.Errorf("the log does not name the setting: %s", w.log)
	}
}

// certificate writes a key and a certificate of localhost.
func certificate(t *testing.T) (key, cert string, pool *x509.CertPool) {
	t.Helper()
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))
	folder := t.TempDir()
	key, cert = filepath.Join(folder, "key.pem"), filepath.Join(folder, "cert.pem")
	for name, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(private))}, cert: {Type: "CERTIFICATE", Bytes: der}} {
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
	w := start(t, []string{"DOGWATCH_SERVER_TLS_ENABLED=true", "DOGWATCH_SERVER_TLS_KEY=" + key, "DOGWATCH_SERVER_TLS_CERT=" + cert})
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
	same(t, "tls", at(w.get("/api/server").object(), "configuration.tls"), any(map[string]any{"enabled": true, "key": key, "cert": cert}))
	// Never both: plain HTTP gets Go's hint that this is an HTTPS server.
	plain, err := http.Get("http" + strings.TrimPrefix(w.url, "https") + "/health")
	if err != nil {
		t.Fatal(err)
	}
	plain.Body.Close()
	same(t, "plain HTTP", plain.StatusCode, 400)
}

func TestListenTellsWhatIsWrong(t *testing.T) {
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
	if _, err := Listen(opt); err == nil || !strings.Contains(err.Error(), "server.tls.cert") || !strings.Contains(err.Error(), "nocert.pem") {
		t.Errorf("a missing certificate: %v", err)
	}
	conf.Server.TLS.Enabled = false
	conf.Server.Port = must(net.LookupPort("tcp", port))
	if _, err := Listen(opt); err == nil || !strings.Contains(err.Error(), "server.port") || !strings.Contains(err.Error(), port) {
		t.Errorf("a port that is taken: %v", err)
	}
	conf.Server.Enabled = false
	if server, err := Listen(opt); server != nil || err != nil {
		t.Errorf("a server that is off: %v, %v", server, err)
	}
}
