package docker

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// serveProxy starts an HTTP proxy that wants a user and a password, and counts what it forwards.
func serveProxy(t *testing.T) (proxy *url.URL, forwarded *atomic.Int32) {
	t.Helper()
	forwarded = new(atomic.Int32)
	direct := &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic YW5hOmdlaGVpbQ==" { // ana:geheim
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		forwarded.Add(1)
		if r.Method != http.MethodConnect {
			direct.ServeHTTP(w, r)
			return
		}
		server, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = client.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
		go func() {
			_, _ = io.Copy(server, client)
			server.Close()
		}()
		_, _ = io.Copy(client, server)
		client.Close()
	}))
	t.Cleanup(s.Close)
	return &url.URL{Scheme: "http", User: url.UserPassword("ana", "geheim"), Host: s.Listener.Addr().String()}, forwarded
}

func TestProxyToEngine(t *testing.T) {
	e := populated(t, enginesim.Config{APIVersion: "1.41"})
	ca := newAuthority(t)
	plain := serveTCP(t, e, nil)
	secure := serveTCP(t, e, &tls.Config{Certificates: []tls.Certificate{ca.server}})
	proxy, forwarded := serveProxy(t)
	for name, o := range map[string]Connection{
		"plain": {Host: plain, Proxy: proxy}, "TLS": {Host: secure, CAFile: ca.file, Proxy: proxy},
	} {
		t.Run(name, func(t *testing.T) {
			before := forwarded.Load()
			d := watch(t, Options{Connection: o})
			if got := list(t, d); len(got) != 2 || forwarded.Load() == before {
				t.Errorf("%d containers, %d requests forwarded", len(got), forwarded.Load()-before)
			}
			f := subscribe(t, d) // which a proxy must not hold back
			f.streams(1)

			wrong := *proxy
			wrong.User = url.UserPassword("ana", "falsch")
			o.Proxy = &wrong
			_, err := watch(t, Options{Connection: o}).List(t.Context())
			explains(t, err, sdk.ErrUnauthorized, o.Host, "the proxy wants other credentials: write them as user:password@ in proxy")
			gone := url.URL{Scheme: "http", User: proxy.User, Host: "127.0.0.1:1"}
			o.Proxy = &gone
			_, err = watch(t, Options{Connection: o}).List(t.Context())
			explains(t, err, sdk.ErrUnavailable, o.Host, "the proxy 127.0.0.1:1 cannot be used: connection refused")
			for _, secret := range []string{"geheim", "falsch"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("tells the password: %v", err)
				}
			}
		})
	}
	_, err := watch(t, Options{Connection: Connection{Host: "127.0.0.1:1", Proxy: proxy}}).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, "127.0.0.1:1", "a proxy cannot reach the engine")
	for text, want := range map[string]string{
		"ftp://proxy": "want a URL that starts with", "http://": "want a URL that starts with",
	} {
		at, err := url.Parse(text)
		check(t, err)
		if _, _, err := locate(Connection{Host: "h", Proxy: at}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, o := range []Connection{{Proxy: proxy}, {Host: "ssh://pi@nas", Proxy: proxy}} {
		if _, warnings, err := locate(o, ""); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "proxy has no effect") {
			t.Errorf("%v, warnings %q", err, warnings)
		}
	}
	schema, err := option.Of[Options]()
	check(t, err)
	if shown := schema.Show(option.Values{"proxy": proxy.String()}, false)["proxy"]; strings.Contains(shown.(string), "geheim") {
		t.Errorf("shown as %s", shown)
	}
}

// TestSOCKSProxyToEngine goes through the SOCKS server of OpenSSH's client.
func TestSOCKSProxyToEngine(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	address := free.Addr().String()
	check(t, free.Close())
	ssh := exec.Command("ssh", "-F", "none", "-N", "-D", address, "-i", server.Key, "-p", server.Port(),
		"-o", "UserKnownHostsFile="+server.KnownHosts, "root@127.0.0.1")
	check(t, ssh.Start())
	t.Cleanup(func() {
		_ = ssh.Process.Kill()
		_ = ssh.Wait()
	})
	o := Options{Connection: Connection{
		Host:  serveTCP(t, populated(t, enginesim.Config{APIVersion: "1.41"}), nil),
		Proxy: &url.URL{Scheme: "socks5", Host: address},
	}}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			check(t, conn.Close())
			break
		}
		if time.Since(began) > maxWait {
			t.Fatal(err)
		}
	}
	if got := list(t, watch(t, o)); len(got) != 2 {
		t.Errorf("%d containers", len(got))
	}
	o.Host = "127.0.0.1:1"
	_, err = watch(t, o).List(t.Context())
	explains(t, err, sdk.ErrUnavailable, "127.0.0.1:1", "the proxy "+address+" cannot be used")
}
