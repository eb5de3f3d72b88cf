package auth

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOIDCCustomCA: a provider whose certificate only its operator trusts.
func TestOIDCCustomCA(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		self := "https://" + r.Host
		fmt.Fprintf(rw, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, self, self+"/a",
			self+"/t", self+"/k")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that have to fail
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	begins := func(settings ...string) (*testServer, string) {
		w := start(t, append([]string{
			"WUD_AUTH_OIDC_HOME_CLIENTID=x", "WUD_AUTH_OIDC_HOME_CLIENTSECRET=" + clientSecret,
			"WUD_AUTH_OIDC_HOME_DISCOVERY=" + server.URL,
		}, settings...)...)
		c := w.browser()
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := c.Get(w.url + begin)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w, resp.Header.Get("Location") + string(said)
	}
	if _, said := begins(); !strings.Contains(said, "set auth.oidc.home.tls.cafile to the PEM file of that authority") {
		t.Errorf("without: %s", said)
	}
	for _, setting := range []string{"CAFILE=" + authority, "INSECURE=true"} {
		w, said := begins("DOGWATCH_AUTH_OIDC_HOME_TLS_" + setting)
		if !strings.Contains(said, server.URL+"/a?") {
			t.Errorf("%s: %s", setting, said)
		}
		if warned := contains(w.auth.Problems(), "auth.oidc.home.tls.insecure"); warned != strings.HasPrefix(setting,
			"INSECURE") {
			t.Errorf("%s: %v", setting, w.auth.Problems())
		}
	}
	w, _ := begins("DOGWATCH_AUTH_OIDC_HOME_TLS_CAFILE=/none.pem")
	if !contains(w.auth.Problems(), "auth.oidc.home.tls.cafile") || w.auth.Open() {
		t.Errorf("%v", w.auth.Problems())
	}
}
