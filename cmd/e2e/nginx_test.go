package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

// TestDocumentedNginxConfigurations runs the configurations of the documentation in front of the built
// program: pages, logins and the stream of events go through as they should.
func TestDocumentedNginxConfigurations(t *testing.T) {
	t.Parallel()
	require(t, "nginx", "nginx")
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reverseproxy.md"))
	must(t, err)
	examples := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) != 2 {
		t.Fatalf("the documentation has %d examples for nginx", len(examples))
	}
	for i, public := range []string{"https://dogwatch.example.org/", "https://nas.example.org/dogwatch/"} {
		address, err := url.Parse(public)
		must(t, err)
		t.Run(address.Host, func(t *testing.T) {
			d := install(t, "DOGWATCH_PUBLIC_URL="+public, "DOGWATCH_SERVER_BASEPATH="+address.Path,
				"DOGWATCH_SERVER_TRUSTEDPROXIES=127.0.0.1", "DOGWATCH_SERVER_FRAMEANCESTORS=https://dash.example.org",
				"DOGWATCH_AUTH_BASIC_MAIN_USER=ana", "DOGWATCH_AUTH_BASIC_MAIN_HASH=right",
				"DOCKER_HOST=unix:///nowhere.sock").start()
			through(t, behind(t, string(examples[i][1]), strings.TrimPrefix(d.url, "http://")), public)
			d.stop()
		})
	}
}

// behind runs nginx with a server of the documentation and returns a browser whose requests all go to it.
func behind(t *testing.T, server, upstream string) *http.Client {
	t.Helper()
	dir := shortDir(t)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := free.Addr().String()
	must(t, free.Close())
	for pattern, with := range map[string]string{
		`listen 443 ssl;`: "listen " + address + " ssl;", `ssl_certificate +\S+;`: "ssl_certificate " + cert + ";",
		`ssl_certificate_key +\S+;`: "ssl_certificate_key " + key + ";", `dogwatch:3000`: upstream,
	} {
		r := regexp.MustCompile(pattern)
		if !r.MatchString(server) {
			t.Fatalf("the example lacks %s", pattern)
		}
		server = r.ReplaceAllLiteralString(server, with)
	}
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := filepath.Join(dir, "nginx.conf")
	must(t,
		os.WriteFile(conf,
			[]byte("daemon off; master_process off; pid "+dir+
				"/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+temporary.String()+server+"}\n"), 0o600))
	cmd := exec.Command("nginx", "-p", dir, "-c", conf, "-e", "stderr")
	var said bytes.Buffer
	cmd.Stderr = &said
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("nginx says %s", said.String())
		}
	})
	eventually(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &http.Client{Jar: jar, Timeout: maxWait, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // of the test's own server on the loopback interface
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
	}}
}

func selfSigned(t *testing.T, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	bits, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bits}), 0o600))
}

// through does what users do, by the public address.
func through(t *testing.T, browser *http.Client, public string) {
	t.Helper()
	address, err := url.Parse(public)
	must(t, err)
	path := strings.TrimSuffix(address.Path, "/")
	do := func(method, to, body string, headers ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Accept", "text/html")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := browser.Do(req)
		must(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp, string(text)
	}

	// Without a session everything leads to the login page, within the path.
	resp, page := do(http.MethodGet, strings.TrimSuffix(public, "/"), "")
	if resp.Request.URL.Path != path+"/login" || resp.StatusCode != http.StatusOK ||
		!strings.Contains(page, `href="`+path+`/static/`) {
		t.Fatalf("%s leads to %s, status %d: %.300s", public, resp.Request.URL, resp.StatusCode, page)
	}
	origin := "https://" + address.Host
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Origin", origin, "Sec-Fetch-Site",
		"same-origin"}
	resp, page = do(http.MethodPost, public+"login", "user=ana&password=right&keep=on&next=/containers", form...)
	if resp.Request.URL.Path != path+"/containers" || resp.StatusCode != http.StatusOK {
		t.Fatalf("a login leads to %s, status %d: %.300s", resp.Request.URL, resp.StatusCode, page)
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy,
		"frame-ancestors 'self' https://dash.example.org") {
		t.Errorf("the policy is %q", policy)
	}
	var session *http.Cookie
	for _, line := range loginCookies(t, browser, public) {
		if strings.HasPrefix(line.Name, "dogwatch_session") {
			session = line
		}
	}
	if session == nil || !session.Secure || session.Path != "/"+strings.Trim(address.Path, "/") {
		t.Errorf("the session's cookie is %v", session)
	}
	_, history := do(http.MethodGet, public+"api/events?limit=20", "", "Accept", "application/json", "X-Forwarded-For",
		"203.0.113.9")
	if !strings.Contains(history, string(event.LoginSucceeded)) || !strings.Contains(history, `"address":"127.0.0.1"`) {
		t.Errorf("the log of events has %s", history)
	}

	// An event comes as it happens, and not once a buffer is full.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+"api/events", nil)
	must(t, err)
	req.Header.Set("Accept", "text/event-stream")
	stream, err := browser.Do(req)
	must(t, err)
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	began := time.Now()
	if !lines.Scan() || lines.Text() != "retry: 2000" {
		t.Fatalf("the stream begins with %q, %v", lines.Text(), lines.Err())
	}
	if resp, text := do(http.MethodPost, public+"api/log", `{"level":"info"}`, "Content-Type", "application/json",
		"Origin", origin); resp.StatusCode != http.StatusOK {
		t.Fatalf("to change the log level: %d %s", resp.StatusCode, text)
	}
	for lines.Text() != "event: setting.changed" {
		if !lines.Scan() {
			t.Fatalf("the stream ended after %v: %v", time.Since(began), lines.Err())
		}
	}
	if took := time.Since(began); took > 10*time.Second { // before the next heartbeat, which would empty a buffer
		t.Errorf("the event took %v", took)
	}
}

// loginCookies logs in once more, to see the cookies as they are set.
func loginCookies(t *testing.T, browser *http.Client, public string) []*http.Cookie {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, public+"auth/login", nil)
	must(t, err)
	req.SetBasicAuth("ana", "right")
	resp, err := browser.Do(req)
	must(t, err)
	resp.Body.Close()
	return resp.Cookies()
}
