package shoutrrr

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
)

// internet fakes every service behind a proxy: what does not go
// through it gets nowhere.
type internet struct {
	proxy, ca string

	mu     sync.Mutex
	status int
	body   string
	calls  []call
}

// call is one request that arrived.
type call struct{ host, path, text string }

// startInternet runs it until the end of the test.
func startInternet(t *testing.T) *internet {
	t.Helper()
	authority := sink.Identify(t)
	n := &internet{status: http.StatusOK, ca: authority.CertFile}
	config := &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return authority.For(hello.ServerName)
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			n.serve(t, w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		secure := tls.Server(conn, config)
		from := bufio.NewReader(secure)
		for {
			inner, err := http.ReadRequest(from)
			if err != nil {
				return
			}
			recorder := httptest.NewRecorder()
			n.serve(t, recorder, inner)
			result := recorder.Result()
			result.ContentLength = int64(recorder.Body.Len())
			if err := result.Write(secure); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	n.proxy = s.URL
	return n
}

func (n *internet) serve(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	query, _ := url.QueryUnescape(r.URL.RawQuery)
	form, _ := url.QueryUnescape(string(body))
	n.mu.Lock()
	defer n.mu.Unlock()
	text := r.URL.Path + "\n" + query + "\n" + string(body) + "\n" + form + "\n" + r.Header.Get("Title")
	n.calls = append(n.calls, call{r.Host, r.URL.Path, text})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(n.status)
	if n.status >= 300 {
		_, _ = io.WriteString(w, "refused: "+text) // a service that says too much
		return
	}
	_, _ = io.WriteString(w, n.body)
}

// set sets the response to later requests, and drops the recorded ones.
func (n *internet) set(status int, body string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status, n.body, n.calls = status, body, nil
}

func (n *internet) seen() []call {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]call(nil), n.calls...)
}

// options lead to this internet.
func (n *internet) options(url string) map[string]any {
	return map[string]any{"url": url, "proxy": n.proxy, "tls.cafile": n.ca}
}
