package api

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
)

func TestPages(t *testing.T) {
	withPages := func(o *testOptions) { o.Pages = fakePages{} }
	free := plainClient(start(t, []string{"DOGWATCH_SERVER_BASEPATH=/dog"}, withPages))
	for path, want := range map[string]string{
		"/": "page / anonymous", "/dog": "page / anonymous",
		"/dog/Containers/A%2Fb?x=1": "page /Containers/A%2Fb anonymous", "/login": "page /login",
		"/static/app.css": "page /static/app.css",
	} {
		same(t, path, string(free.get(path).want(200).body), want)
	}
	same(t, "post", string(free.do("POST", "/containers/act", "").want(200).body), "page /containers/act anonymous")
	free.get("/api/nope").fails(404)

	w := plainClient(startWithLogin(t, nil, withPages))
	ana := []string{"Cookie", w.session()}
	for path, to := range map[string]string{
		"/": "/login", "/containers": "/login?next=%2Fcontainers",
		"/Containers/a%2Fb?q=x&y=//evil.com": "/login?next=" + url.QueryEscape("/Containers/a%2Fb?q=x&y=//evil.com"),
		"//evil.com/":                        "/login?next=%2F%2Fevil.com", // which is then not a path on this server
	} {
		got := w.get(path)
		if got.status != http.StatusSeeOther || got.header.Get("Location") != to {
			t.Errorf("%s: %d to %q, want %q", path, got.status, got.header.Get("Location"), to)
		}
	}
	for _, path := range []string{"/login", "/logout", "/static/app.css", "/favicon.ico", "/decide/dwl_aB-_",
		"/manifest.webmanifest"} {
		same(t, path, string(w.get(path).want(200).body), "page "+path)
	}
	same(t, "link", string(w.do("POST", "/decide/dwl_aB-_", "").want(200).body), "page /decide/dwl_aB-_")
	w.do("POST", "/decide/dwl_aB-_", "", "Sec-Fetch-Site", "cross-site").fails(403)
	same(t, "page", string(w.get("/containers", ana...).want(200).body), "page /containers ana")
	w.do("POST", "/containers/act", "").want(http.StatusSeeOther)
	same(t, "form", string(w.do("POST", "/containers/act", "", ana...).want(200).body), "page /containers/act ana")
	read := "Bearer " + w.token(auth.Read, time.Time{})
	w.get("/containers", "Authorization", read).want(200)
	w.do("POST", "/containers/act", "", "Authorization", read).fails(403, "may only read")
	if got := w.get("/containers/rows", "HX-Request", "true").want(401); got.header.Get("HX-Redirect") != "/login" {
		t.Errorf("%v", got.header)
	}
	w.do("POST", "/containers/act", "", append(ana, "Sec-Fetch-Site", "cross-site")...).fails(403)
	same(t, "refused",
		string(w.get("/containers", "Authorization", basic("ana", "wrong"), "Accept", "text/html").want(401).body),
		"refused: wrong user or password")
}

// fakePages respond with the path and the user of a request.
type fakePages struct{}

func (fakePages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, strings.TrimSpace("page "+r.URL.EscapedPath()+" "+auth.From(r.Context()).User))
}

func (fakePages) Refuse(w http.ResponseWriter, _ *http.Request, status int, why string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "refused: "+why)
}

// plainClient follows no redirect, and takes pages, which are not in the document, as they are.
func plainClient(w *testServer) *testServer {
	w.client = &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	w.t.Cleanup(w.client.CloseIdleConnections)
	return w
}
