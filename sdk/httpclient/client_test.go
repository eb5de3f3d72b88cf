package httpclient

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func newClient(t *testing.T, o Options, secrets ...string) *Client {
	t.Helper()
	c, err := New(sdk.Env{UserAgent: "dogwatch/test"}, o, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func parseURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func request(t *testing.T, method, address, payload string) *http.Request {
	t.Helper()
	req, err := NewRequest(t.Context(), method, address)
	if err != nil {
		t.Fatal(err)
	}
	if payload != "" {
		SetBody(req, "text/plain", []byte(payload))
	}
	return req
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestDoSetsUserAgent(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.UserAgent()) })
	c := newClient(t, Options{})
	for _, want := range []string{"dogwatch/test", "other/1"} {
		req := request(t, "GET", s.URL, "")
		if want == "other/1" {
			req.Header.Set("User-Agent", want)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadAll(resp, 100)
		resp.Body.Close()
		if string(got) != want || err != nil {
			t.Errorf("user agent %q, %v, want %q", got, err, want)
		}
	}
}

// Hostile and broken servers, and their errors.
func TestDoErrors(t *testing.T) {
	hang := make(chan struct{})
	mute := serve(t, func(http.ResponseWriter, *http.Request) { <-hang })
	slow := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.(http.Flusher).Flush()
		<-hang
	})
	t.Cleanup(func() { close(hang) })
	cut := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "short")
	})
	reset := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	refused := serve(t, nil)
	refused.Close()
	liar := rawServer(t, "s3cret-s3cret nonsense\r\n\r\n")
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	badRedirect := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://u:s3cret-s3cret@[/?q=s3cret-s3cret")
		w.WriteHeader(http.StatusFound)
	})
	wide := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) })

	tests := []struct{ name, address, want string }{
		{"never answers", mute.URL, "no answer within 50ms"},
		{"never finishes", slow.URL, "reading the answer: no answer within 50ms"},
		{"breaks off", cut.URL, "reading the answer: unexpected EOF"},
		{"closes", reset.URL, "EOF"},
		{"refuses", refused.URL, "connection refused"},
		{"unknown name", "http://nowhere.invalid", "no such host"},
		{"speaks no HTTP", liar, "malformed HTTP"},
		{"redirects for ever", loop.URL, "more than 10 redirects"},
		{"redirects nowhere", badRedirect.URL, "Location"},
		{"endless header", wide.URL, "exceeded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newClient(t, Options{Timeout: time.Minute})
			if strings.Contains(test.want, "50ms") {
				c = newClient(t, Options{Timeout: 50 * time.Millisecond})
			}
			resp, err := c.Do(request(t, "GET", test.address+"/s3cret-s3cret?token=s3cret-s3cret", ""))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if !errors.Is(err, sdk.ErrUnavailable) {
				t.Errorf("%v is not ErrUnavailable", err)
			}
			checkNoSecret(t, err)
			if !strings.HasPrefix(err.Error(), "GET http://") {
				t.Errorf("%v does not name the method and the host", err)
			}
		})
	}
}

func checkNoSecret(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); strings.Contains(text, "s3cret") || strings.ContainsAny(text, "\r\n\x1b") {
		t.Errorf("leaks: %q", text)
	}
}

// rawServer responds to every connection with text.
func rawServer(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 4096)
			_, _ = conn.Read(buffer)
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestDoIsCancelled(t *testing.T) {
	requested, hang := make(chan struct{}), make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { close(requested); <-hang })
	t.Cleanup(func() { close(hang) })
	ctx, cancel := context.WithCancel(t.Context())
	req, err := NewRequest(ctx, "GET", s.URL+"/s3cret-s3cret")
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-requested; cancel() }()
	_, err = newClient(t, Options{}).Do(req)
	if !errors.Is(err, context.Canceled) || sdk.Retryable(err) {
		t.Errorf("error %v, want only context.Canceled", err)
	}
	checkNoSecret(t, err)

	expired, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	req, _ = NewRequest(expired, "GET", s.URL)
	if _, err = newClient(t, Options{}).Do(req); !errors.Is(err, context.DeadlineExceeded) ||
		!errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("error %v, want DeadlineExceeded and ErrUnavailable", err)
	}
}

func TestDoRejectsMalformedRequests(t *testing.T) {
	for _, address := range []string{"ftp://host/s3cret", "://s3cret", "http://u:s3cret/@host",
		"http://host\x7f/s3cret", ""} {
		err := newClient(t, Options{}).JSON(t.Context(), "GET", address, nil, nil, nil)
		var invalid *sdk.InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != "url" {
			t.Errorf("%q: error %v, want an InvalidError about url", address, err)
			continue
		}
		checkNoSecret(t, err)
	}
	err := newClient(t, Options{}).JSON(t.Context(), "bad method", "http://host", nil, nil, nil)
	if err == nil {
		t.Error("a malformed method was accepted")
	}
}

func TestProxy(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte("ana:s3cret"))
		switch {
		case r.Header.Get("Proxy-Authorization") != want:
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			w.WriteHeader(http.StatusBadGateway)
		default:
			io.WriteString(w, "for "+r.URL.String())
		}
	})
	address := func(user string) *url.URL {
		return parseURL(t, strings.Replace(proxy.URL, "http://", "http://"+user, 1))
	}

	c := newClient(t, Options{Proxy: address("ana:s3cret@")})
	resp, err := c.Do(request(t, "GET", "http://target.invalid/path", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != "for http://target.invalid/path" {
		t.Errorf("the proxy got %q", got)
	}
	if _, err = c.Do(request(t, "GET", "https://target.invalid/", "")); !errors.Is(err, sdk.ErrUnavailable) ||
		!strings.Contains(err.Error(), "502") {
		t.Errorf("a failing proxy: %v", err)
	}
	checkNoSecret(t, err)
	_, err = newClient(t, Options{
		Proxy: address("ana:wr0ng-s3cret@"),
	}).Do(request(t, "GET", "https://target.invalid/", ""))
	if !errors.Is(err, sdk.ErrUnauthorized) || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("wrong proxy credentials: %v", err)
	}
	checkNoSecret(t, err)
	_, err = New(sdk.Env{}, Options{Proxy: parseURL(t, "ftp://u:s3cret@host")})
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "proxy" {
		t.Errorf("an ftp proxy: %v", err)
	}
	checkNoSecret(t, err)
}

// The environment of a process is read once, hence another process.
func TestProxyOfTheEnvironment(t *testing.T) {
	if os.Getenv("HTTP_PROXY") != "" && os.Getenv("HTTPCLIENT_TEST_CHILD") == "1" {
		resp, err := newClient(t, Options{}).Do(request(t, "GET", "http://target.invalid/path", ""))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return
	}
	requested := make(chan string, 1)
	proxy := serve(t, func(_ http.ResponseWriter, r *http.Request) { requested <- r.URL.String() })
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyOfTheEnvironment$")
	child.Env = append(os.Environ(), "HTTPCLIENT_TEST_CHILD=1", "HTTP_PROXY="+proxy.URL, "http_proxy=", "NO_PROXY=",
		"no_proxy=")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := <-requested; got != "http://target.invalid/path" {
		t.Errorf("the proxy got %q", got)
	}
}

func TestBodyLimit(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 1000)) })
	for _, test := range []struct {
		limit int64
		fits  bool
	}{{0, false}, {999, false}, {1000, true}, {1001, true}, {1 << 40, true}} {
		resp, err := newClient(t, Options{}).Do(request(t, "GET", s.URL, ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadAll(resp, test.limit)
		resp.Body.Close()
		if fits := err == nil; fits != test.fits || int64(len(got)) != min(1000, test.limit) {
			t.Errorf("limit %d: %d bytes, %v", test.limit, len(got), err)
		}
		if !test.fits && (!errors.Is(err, ErrTooLarge) || sdk.Retryable(err)) {
			t.Errorf("limit %d: %v does not say that it is too large", test.limit, err)
		}
	}
	endless := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	resp, err := newClient(t, Options{}).Do(request(t, "GET", endless.URL, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); n != MaxBody || !errors.Is(err, ErrTooLarge) {
		t.Errorf("read %d bytes of an endless response: %v", n, err)
	}
	foreign := &http.Response{Body: io.NopCloser(strings.NewReader("abc"))}
	if _, err := ReadAll(foreign, 2); !errors.Is(err, ErrTooLarge) {
		t.Errorf("another client's response is not bounded: %v", err)
	}
}
