package cluster

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// secured is a server with TLS, which refuses all tokens but one and repeats those.
type secured struct {
	*httptest.Server
	ca string // PEM

	mu    sync.Mutex
	token string
}

func newSecured(t *testing.T, token string) *secured {
	t.Helper()
	s := &secured{token: token}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := r.Header.Get("Authorization"); got != "Bearer "+s.token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"kind": "Status", "code": 401, "message": "no: %s"}`, got)
			return
		}
		fmt.Fprint(w, `{"kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": null}`)
	}))
	t.Cleanup(s.Close)
	s.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return s
}

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// config is a kubeconfig with two contexts, of which "other" is of a cluster that nobody has.
func config(cluster, user string) string {
	return fmt.Sprintf(`
apiVersion: v1
current-context: home
contexts:
- {name: home, context: {cluster: home, user: ana}}
- {name: other, context: {cluster: away, user: ana}}
- {name: broken, context: {cluster: none, user: ana}}
clusters:
- {name: home, cluster: {%s}}
- {name: away, cluster: {server: "https://127.0.0.1:1"}}
users:
- {name: ana, user: {%s}}
`, cluster, user)
}

func TestKubeconfig(t *testing.T) {
	const token = "recognisable-token"
	s := newSecured(t, token)
	folder := t.TempDir()
	write(t, folder, "ca.pem", s.ca)
	write(t, folder, "token", token+"\n")
	data := base64.StdEncoding.EncodeToString([]byte(s.ca))
	server := fmt.Sprintf("server: %q, ", s.URL)
	for name, c := range map[string]struct{ cluster, user, context, want string }{
		"data":          {server + "certificate-authority-data: " + data, "token: " + token, "", ""},
		"files":         {server + "certificate-authority: ca.pem", "tokenFile: token", "", ""},
		"named":         {server + "certificate-authority: ca.pem", "tokenFile: token", "home", ""},
		"insecure":      {server + "insecure-skip-tls-verify: true", "token: " + token, "", ""},
		"no authority":  {server, "token: " + token, "", "certificate"},
		"another token": {server + "certificate-authority: ca.pem", "token: x" + token, "", "answered 401"},
		"other":         {server + "certificate-authority: ca.pem", "token: " + token, "other", "127.0.0.1:1"},
		"unknown":       {server, "token: " + token, "hoem", `no context "hoem"; it has: broken, home, other`},
		"broken":        {server, "token: " + token, "broken", `the cluster "none" of the context "broken" is not in it`},
		"exec":          {server, "exec: {command: aws}", "", "logs in by a program"},
		"no file":       {server + "certificate-authority: none.pem", "token: " + token, "", "kubectl config view --flatten --minify"},
		"no PEM":        {server + "certificate-authority: token", "token: " + token, "", "no PEM certificate"},
		"no base64":     {server + "certificate-authority-data: '!'", "token: " + token, "", "is no kubeconfig"},
		"no address":    {`server: "10.0.0.1:6443"`, "token: " + token, "", "is not an address such as https://10.0.0.1:6443"},
		"half a pair":   {server, "client-certificate: ca.pem, client-key: token", "", "do not make a pair"},
	} {
		path := write(t, folder, "config", config(c.cluster, c.user))
		e, warnings, err := FromKubeconfig(path, c.context)
		if err == nil {
			_, err = New(e, "test").List(t.Context(), Resource{Version: "v1", Name: "pods"}, func(*Object) {})
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error()+sdk.Remedy(err), token) {
			t.Errorf("%s: the token is in %v", name, err)
		}
		if (name == "insecure") != (len(warnings) > 0) {
			t.Errorf("%s: warnings %q", name, warnings)
		}
	}
}

// TestAccount has the kubelet renew the token of a pod.
func TestAccount(t *testing.T) {
	s := newSecured(t, "first-token")
	folder := t.TempDir()
	write(t, folder, "ca.crt", s.ca)
	write(t, folder, "token", "first-token")
	server, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	e, err := FromAccount(server, folder)
	if err != nil {
		t.Fatal(err)
	}
	c := New(e, "test")
	list := func() error {
		_, err := c.List(t.Context(), Resource{Version: "v1", Name: "pods"}, func(*Object) {})
		return err
	}
	if err := list(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.token = "second-token"
	s.mu.Unlock()
	if err := list(); !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), "first-token") ||
		!strings.Contains(sdk.Remedy(err), filepath.Join(folder, "token")) {
		t.Errorf("with an expired token: got %v, remedy %q", err, sdk.Remedy(err))
	}
	write(t, folder, "token", "second-token")
	if err := list(); err != nil {
		t.Errorf("with the token that was renewed: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "token")); err != nil {
		t.Fatal(err)
	}
	if err := list(); !errors.Is(err, sdk.ErrUnauthorized) || !strings.Contains(err.Error(), "read the token of the service account") {
		t.Errorf("without a token: got %v", err)
	}
}

// TestTokenIsForItsServer: neither a server without TLS nor another one gets it.
func TestTokenIsForItsServer(t *testing.T) {
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	folder := t.TempDir()
	write(t, folder, "token", "recognisable-token")
	plain, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	e, err := FromAccount(plain, folder)
	if err != nil {
		t.Fatal(err)
	}
	fromFile, _, err := FromKubeconfig(write(t, folder, "config", config("server: "+other.URL, "token: recognisable-token")), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Endpoint{e, fromFile} {
		_ = New(e, "test").Check(t.Context(), Resource{Version: "v1", Name: "pods"}) // an empty answer
	}
	if len(got) != 2 || got[0] != "" || got[1] != "" {
		t.Errorf("a server without TLS got %q", got)
	}

	redirecting := httptest.NewTLSServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer redirecting.Close()
	config := config(fmt.Sprintf("server: %q, insecure-skip-tls-verify: true", redirecting.URL), "token: recognisable-token")
	e, _, err = FromKubeconfig(write(t, folder, "config", config), "")
	if err != nil {
		t.Fatal(err)
	}
	err = New(e, "test").Check(t.Context(), Resource{Version: "v1", Name: "pods"})
	if err == nil || len(got) != 2 {
		t.Errorf("after a redirect: got %v, and the other server %q", err, got)
	}
}
