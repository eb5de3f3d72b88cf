package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestRulesOfAllClients has one test for each rule that the known clients make together.
func TestRulesOfAllClients(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	list := func(t *testing.T) []map[string]any { return w.get("/api/containers").want(200).list() }
	path := "/api/containers/" + nginx().ID

	t.Run("1 a bare array of whole containers, unpaged", func(t *testing.T) {
		if len(list(t)) != 2 || list(t)[0]["image"] == nil {
			t.Errorf("%v", list(t))
		}
		empty := start(t, nil)
		same(t, "no containers", string(empty.get("/api/containers").want(200).body), "[]")
		same(t, "no containers after a check", string(empty.do("POST", "/api/containers/watch", "").want(200).body), "[]")
		same(t, "none selected", string(empty.get("/api/containers?name=x").want(200).body), "[]")
	})
	t.Run("2 a trailing slash changes nothing", func(t *testing.T) {
		same(t, "list", string(w.get("/api/containers/").want(200).body), string(w.get("/api/containers").body))
	})
	t.Run("3 HEAD wherever there is GET", func(t *testing.T) {
		w.do("HEAD", "/api/containers", "").want(200)
		w.do("HEAD", "/", "").want(200)
	})
	t.Run("4 api v1 is exactly 404", func(t *testing.T) {
		w.get("/api/v1/containers").want(404)
	})
	t.Run("5 objects or absent, never null", func(t *testing.T) {
		for _, text := range [][]byte{w.get("/api/containers").body, w.get(path).body, w.get("/api/triggers").body,
			w.get("/api/registries").body} {
			if strings.Contains(string(text), "null") {
				t.Errorf("there is a null in %s", text)
			}
		}
	})
	t.Run("6 updateAvailable is always a boolean", func(t *testing.T) {
		for _, c := range list(t) {
			if _, ok := c["updateAvailable"].(bool); !ok {
				t.Errorf("%v: %v", c["name"], c["updateAvailable"])
			}
		}
	})
	t.Run("7 result has a tag when there is an update", func(t *testing.T) {
		for _, c := range list(t) {
			if c["updateAvailable"] == true && at(c, "result.tag") == nil {
				t.Errorf("%v", c)
			}
		}
	})
	t.Run("8 all labels", func(t *testing.T) {
		if got := list(t)[0]["labels"].(map[string]any); len(got) != len(nginx().Labels) ||
			got["com.docker.compose.project"] != "web" {
			t.Errorf("labels: %v", got)
		}
	})
	t.Run("9 the registry's name is type and name", func(t *testing.T) {
		same(t, "name", at(list(t)[0], "image.registry.name"), any("hub.public"))
	})
	t.Run("10 status of a running container", func(t *testing.T) {
		same(t, "status", list(t)[0]["status"], any("running"))
	})
	t.Run("11 a trigger responds 200 when it has ended", func(t *testing.T) {
		w := start(t, nil)
		w.put(nginx())
		release, began := make(chan struct{}), make(chan struct{})
		w.triggers.run = func(context.Context) error { close(began); <-release; return nil }
		status := make(chan int, 1)
		go func() { status <- w.do("POST", path+"/triggers/ntfy/one", "").status }()
		<-began
		select {
		case s := <-status:
			t.Errorf("responded %d before the trigger ended", s)
		default:
		}
		close(release)
		if s := <-status; s != 200 {
			t.Errorf("status %d", s)
		}
	})
	t.Run("12 a missing, an empty and a JSON body", func(t *testing.T) {
		for _, path := range []string{path + "/watch", path + "/triggers/ntfy/one", "/api/containers/watch"} {
			for _, body := range []string{"", "{}", `{"force":true}`, "[]", " ", "not json"} {
				w.do("POST", path, body, "Content-Type", "application/json").want(200)
			}
		}
	})
	t.Run("14 a check continues when its client disconnects", func(t *testing.T) {
		w := start(t, nil)
		w.put(nginx())
		for path, began := range map[string]chan struct{}{"/api/containers/watch": nil, path + "/watch": nil} {
			began = make(chan struct{})
			leave, ended := make(chan struct{}), make(chan struct{})
			run := func() error { close(began); <-leave; close(ended); return nil }
			w.checks.watchAll, w.checks.watchOne = run, func(sdk.Container) error { return run() }
			leaving(t, w, path, began)
			close(leave)
			<-ended
		}
	})
	t.Run("14 a trigger continues too", func(t *testing.T) {
		w := start(t, nil)
		w.put(nginx())
		began, left, outcome := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		w.triggers.run = func(ctx context.Context) error {
			close(began)
			<-left
			outcome <- ctx.Err()
			return nil
		}
		leaving(t, w, path+"/triggers/ntfy/one", began)
		close(left)
		if err := <-outcome; err != nil {
			t.Errorf("the trigger was cancelled: %v", err)
		}
	})
	t.Run("15 credentials on an open server are ignored", func(t *testing.T) {
		for _, credentials := range []string{basic("", ""), basic("john", "doe"), "Basic", "Basic !!!",
			"Bearer wud_abc", "Digest x"} {
			w.get("/api/containers", "Authorization", credentials).want(200)
			w.do("POST", "/auth/login", "", "Authorization", credentials).want(200)
			w.get("/metrics", "Authorization", credentials).want(200)
		}
	})
	t.Run("16 app needs no login and is JSON", func(t *testing.T) {
		if got := w.get("/api/app").want(200); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
			t.Errorf("%v", got.header)
		}
	})
	t.Run("17 health needs no login", func(t *testing.T) {
		w.get("/health").want(200)
	})
	t.Run("18 preflight allows the headers that pages send", func(t *testing.T) {
		w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
		got := w.do("OPTIONS", "/api/containers", "", "Origin", "https://dash.example.org",
			"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization,content-type").want(204)
		same(t, "headers", got.header.Get("Access-Control-Allow-Headers"), "authorization,content-type")
	})
	t.Run("19 a wrong login is 401", func(t *testing.T) {
		w := startWithLogin(t, nil)
		for _, credentials := range []string{basic("ana", "wrong"), basic("", ""), basic("", "x"), "Basic", "Basic !!!",
			"Bearer x", "Digest x"} {
			w.get("/api/containers", "Authorization", credentials).want(401)
			w.do("POST", "/api/containers/watch", "", "Authorization", credentials).want(401)
		}
		w.get("/api/containers").want(401)
	})
	t.Run("22 bearer tokens", func(t *testing.T) {
		w := startWithLogin(t, nil)
		w.get("/api/containers", "Authorization", "Bearer wud_abc").want(401)
		w.get("/api/containers", "Authorization", "Bearer "+w.token(auth.Read, time.Time{})).want(200)
	})
	t.Run("21 ids stay and may be escaped", func(t *testing.T) {
		for _, id := range []string{nginx().ID, redis().ID} {
			w.get("/api/containers/" + url.PathEscape(id)).want(200)
			w.get("/api/containers/" + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")).want(200)
		}
	})
}

// leaving sends a request and leaves once began.
func leaving(t *testing.T, w *testServer, path string, began chan struct{}) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	responded := make(chan error, 1)
	go func() {
		resp, err := w.client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		responded <- err
	}()
	<-began
	leave()
	if err := <-responded; err == nil {
		t.Error("the request got a response although its client had left")
	}
}
