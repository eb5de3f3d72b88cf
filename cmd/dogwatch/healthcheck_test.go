package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
)

func TestHealthcheck(t *testing.T) {
	var requested string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested = r.URL.Path
		if strings.HasPrefix(r.URL.Path, "/sick") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	for name, c := range map[string]struct {
		server    *httptest.Server
		env       map[string]string
		requested string
		code      int
		says      string
	}{
		"plain":       {plain, nil, "/api/health", 0, ""},
		"base path":   {plain, map[string]string{"DOGWATCH_SERVER_BASEPATH": "/dog/"}, "/dog/api/health", 0, ""},
		"WUD's names": {plain, map[string]string{"WUD_SERVER_BASEPATH": "/wud/"}, "/wud/api/health", 0, ""},
		"TLS":         {secure, map[string]string{"DOGWATCH_SERVER_TLS_ENABLED": "true"}, "/api/health", 0, ""},
		"any address": {plain, map[string]string{"DOGWATCH_SERVER_HOST": "0.0.0.0"}, "/api/health", 0, ""},
		"TLS expected": {plain, map[string]string{"DOGWATCH_SERVER_TLS_ENABLED": "true"}, "", 1,
			"HTTP response to HTTPS client"},
		"not well": {plain, map[string]string{"DOGWATCH_SERVER_BASEPATH": "/sick/"}, "/sick/api/health", 1,
			"/sick/api/health answered 503"},
		"switched off": {plain, map[string]string{"DOGWATCH_SERVER_ENABLED": "false"}, "", 0, "switched off"},
		"any port":     {plain, map[string]string{"DOGWATCH_SERVER_PORT": "0"}, "", 1, "server.port is 0"},
		"wrong port":   {plain, map[string]string{"DOGWATCH_SERVER_PORT": "none"}, "", 1, "server.port"},
	} {
		t.Run(name, func(t *testing.T) {
			requested = ""
			u, err := url.Parse(c.server.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			t.Setenv("DOGWATCH_STORE_PATH", t.TempDir())
			t.Setenv("DOGWATCH_SERVER_PORT", u.Port())
			key, cert := pemFiles(t)
			for k, v := range c.env {
				t.Setenv(k, v)
				if k == "DOGWATCH_SERVER_TLS_ENABLED" {
					t.Setenv("DOGWATCH_SERVER_TLS_KEY", key)
					t.Setenv("DOGWATCH_SERVER_TLS_CERT", cert)
				}
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"healthcheck"}, &stdout, &stderr)
			if said := stdout.String() + stderr.String(); code != c.code || requested != c.requested ||
				!strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("exit code %d, requested %q: %s", code, requested, said)
			}
		})
	}
}

func TestClientRejectsForeignServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>"))
	}))
	defer server.Close()
	var into []any
	err := (&client{base: server.URL, http: localClient()}).call(t.Context(), http.MethodGet, "/api/plugins", &into)
	if err == nil || !strings.Contains(err.Error(), "is not Dogwatch") {
		t.Error(err)
	}
}

func TestClientNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c, err := newClient(config.Server{Enabled: true, Port: l.Addr().(*net.TCPAddr).Port, BasePath: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.call(t.Context(), http.MethodGet, "/api/plugins", nil); !errors.Is(err, errNotServing) {
		t.Error(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.call(over, http.MethodGet, "/api/plugins", nil); !errors.Is(err, context.Canceled) ||
		errors.Is(err, errNotServing) {
		t.Error(err)
	}
}

// pemFiles returns files that exist, as server.tls.key and server.tls.cert must.
func pemFiles(t *testing.T) (key, cert string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"key.pem", "cert.pem"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("PEM"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "key.pem"), filepath.Join(dir, "cert.pem")
}
