package httpclient

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func secretHeaders() http.Header {
	return http.Header{
		"Authorization": {"Bearer s3cret"}, "Cookie": {"a=s3cret"}, "X-Gotify-Key": {"s3cret"}, "X-Auth-Token": {"s3cret"},
		"Private-Token": {"s3cret"}, "Anything": {"s3cret"}, "Accept": {"application/json"}, "If-None-Match": {`"tag"`},
	}
}

func TestRedirectsSendNoCredentialsToOtherHosts(t *testing.T) {
	var got http.Header
	record := func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }
	other := serve(t, record)
	var back *httptest.Server
	bounce := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, back.URL+"/end", http.StatusFound)
	})
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/bounce":
			http.Redirect(w, r, bounce.URL, http.StatusFound)
		case "/end":
			record(w, r)
		}
	})
	back = home
	tests := []struct {
		path string
		want bool
	}{{"/near", true}, {"/away", false}, {"/bounce", false}}
	for _, test := range tests {
		req := request(t, "GET", strings.Replace(home.URL, "http://", "http://user:s3cret@", 1)+test.path+"?q=s3cret", "")
		req.Header = secretHeaders()
		resp, err := newClient(t, Options{}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got.Get("Accept") != "application/json" || got.Get("If-None-Match") != `"tag"` ||
			got.Get("User-Agent") != "dogwatch/test" {
			t.Errorf("%s: public headers are lost: %v", test.path, got)
		}
		if _, has := got["Referer"]; has {
			t.Errorf("%s: a Referer is sent", test.path)
		}
		for name, values := range got {
			if leaks := strings.Contains(strings.Join(values, " "), "s3cret"); leaks != (test.want && !isPublic(name)) {
				t.Errorf("%s: header %s: %q, arrives: %v", test.path, name, values, leaks)
			}
		}
		if test.want && got.Get("Authorization") == "" {
			t.Errorf("%s: credentials did not arrive", test.path)
		}
	}
}

func TestRedirectsResendTheBody(t *testing.T) {
	var bodies []string
	record := func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Method+" "+string(b))
	}
	other := serve(t, record)
	var status int
	var to string
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			record(w, r)
			return
		}
		http.Redirect(w, r, to, status)
	})
	tests := []struct {
		status   int
		to, want string // want: what arrives, or the error
	}{
		{307, "/end", "POST hello"},
		{308, "/end", "POST hello"},
		{303, "/end", "GET "},
		{301, "/end", "would lose the message"},
		{302, other.URL, "would lose the message"},
		{307, other.URL, "another host"},
		{308, other.URL + "/?q=s3cret", "another host"},
		{303, other.URL, "GET "},
	}
	for _, test := range tests {
		bodies, status, to = nil, test.status, test.to
		resp, err := newClient(t, Options{}).Do(request(t, "POST", home.URL+"/start", "hello"))
		if err == nil {
			resp.Body.Close()
			if len(bodies) != 1 || bodies[0] != test.want {
				t.Errorf("%d to %s: arrived %q, want %q", test.status, test.to, bodies, test.want)
			}
			continue
		}
		var invalid *sdk.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), test.want) || len(bodies) > 0 {
			t.Errorf("%d to %s: error %v, arrived %q, want %q", test.status, test.to, err, bodies, test.want)
		}
		checkNoSecret(t, err)
	}
}

func TestSameHost(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"http://a", "http://a:80/x", true},
		{"https://A", "https://a:443", true},
		{"http://a", "https://a", true},
		{"http://a:8080", "https://a:8443", true},
		{"https://a", "http://a", false},
		{"https://a", "https://a:444", false},
		{"https://a", "https://b.a", false},
		{"https://a.b", "https://b", false},
		{"https://a", "https://a.evil", false},
	}
	for _, test := range tests {
		if got := sameHost(parseURL(t, test.a), parseURL(t, test.b)); got != test.want {
			t.Errorf("sameHost(%s, %s) = %v", test.a, test.b, got)
		}
	}
}
