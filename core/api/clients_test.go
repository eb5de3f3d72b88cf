package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/sdk"
)

func failing(message string) func(context.Context) error {
	return func(context.Context) error { return fmt.Errorf("%s", message) }
}

// gone is a check that finds that the engine lists the container no more.
func gone(w *world, c sdk.Container) error {
	if err := w.store.Commit(context.Background(), event.Change{Remove: []string{c.ID}}); err != nil {
		return err
	}
	return check.ErrNotListed
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

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
		for _, text := range [][]byte{w.get("/api/containers").body, w.get(path).body, w.get("/api/triggers").body, w.get("/api/registries").body} {
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
		if got := list(t)[0]["labels"].(map[string]any); len(got) != len(nginx().Labels) || got["com.docker.compose.project"] != "web" {
			t.Errorf("labels: %v", got)
		}
	})
	t.Run("9 the registry's name is type and name", func(t *testing.T) {
		same(t, "name", at(list(t)[0], "image.registry.name"), any("hub.public"))
	})
	t.Run("10 status of a running container", func(t *testing.T) {
		same(t, "status", list(t)[0]["status"], any("running"))
	})
	t.Run("11 a trigger answers 200 when it has ended", func(t *testing.T) {
		w := start(t, nil)
		w.put(nginx())
		release, began := make(chan struct{}), make(chan struct{})
		w.triggers.run = func(context.Context) error { close(began); <-release; return nil }
		status := make(chan int, 1)
		go func() { status <- w.do("POST", path+"/triggers/ntfy/one", "").status }()
		<-began
		select {
		case s := <-status:
			t.Errorf("answered %d before the trigger ended", s)
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
	t.Run("14 a check goes on when its requester leaves", func(t *testing.T) {
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
	t.Run("14 a trigger goes on too", func(t *testing.T) {
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
		for _, credentials := range []string{basic("", ""), basic("john", "doe"), "Basic", "Basic !!!", "Bearer wud_abc", "Digest x"} {
			w.get("/api/containers", "Authorization", credentials).want(200)
			w.do("POST", "/auth/login", "", "Authorization", credentials).want(200)
			w.get("/metrics", "Authorization", credentials).want(200)
		}
	})
	t.Run("16 and 17 app and health need no login", func(t *testing.T) {
		if got := w.get("/api/app").want(200); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
			t.Errorf("%v", got.header)
		}
		w.get("/health").want(200)
	})
	t.Run("18 preflight allows the headers that pages send", func(t *testing.T) {
		w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
		got := w.do("OPTIONS", "/api/containers", "", "Origin", "https://dash.example.org", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization,content-type").want(204)
		same(t, "headers", got.header.Get("Access-Control-Allow-Headers"), "authorization,content-type")
	})
	t.Run("21 ids stay and may be escaped", func(t *testing.T) {
		for _, id := range []string{nginx().ID, redis().ID} {
			w.get("/api/containers/" + url.PathEscape(id)).want(200)
			w.get("/api/containers/" + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")).want(200)
		}
	})
}

// leaving sends a request and leaves once began.
func leaving(t *testing.T, w *world, path string, began chan struct{}) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		resp, err := w.client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		answered <- err
	}()
	<-began
	leave()
	if err := <-answered; err == nil {
		t.Error("the request was answered although its client had left")
	}
}

func TestClientHomepage(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	for _, credentials := range [][]string{nil, {"Authorization", basic("john", "doe")}, {"Authorization", "Bearer key"}} {
		list := w.get("/api/containers", credentials...).want(200).list()
		updates := 0
		for _, c := range list {
			if c["updateAvailable"] == true {
				updates++
			}
		}
		same(t, "monitoring and updates", []int{len(list), updates}, []int{2, 1})
	}
}

// TestClientHomarr: one item that it cannot validate makes it reject the whole list.
func TestClientHomarr(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	if got := w.get("/api/app").want(200); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		t.Error("the test of the connection fails")
	}
	for _, c := range w.get("/api/containers").want(200).list() {
		for _, field := range []string{"id", "name"} {
			if _, ok := c[field].(string); !ok {
				t.Errorf("%s: %v", field, c[field])
			}
		}
		for _, field := range []string{"displayName", "link"} {
			if v, present := c[field]; present {
				if _, ok := v.(string); !ok {
					t.Errorf("%s: %v", field, v)
				}
			}
		}
		for _, field := range []string{"image", "image.tag", "updateKind", "result"} {
			parent := c
			if head, rest, nested := strings.Cut(field, "."); nested {
				parent, field = c[head].(map[string]any), rest
			}
			if v, present := parent[field]; present {
				if _, ok := v.(map[string]any); !ok {
					t.Errorf("%s: %v", field, v)
				}
			}
		}
	}
}

// TestClientHomer runs in a browser, on another origin.
func TestClientHomer(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
	w.put(nginx())
	got := w.get("/api/containers", "Origin", "https://homer.example.org", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors").want(200)
	same(t, "origin", got.header.Get("Access-Control-Allow-Origin"), "*")
	same(t, "containers", len(got.list()), 1)
}

func TestClientGlance(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	for _, got := range []answer{w.get("/api/containers/"), w.do("POST", "/api/containers/watch", "")} {
		c := got.want(200).list()[0]
		for field, want := range map[string]any{
			"updateAvailable": true, "status": "running", "name": "nginx", "watcher": "local", "image.registry.name": "hub.public", "image.name": "library/nginx",
			"updateKind.kind": "tag", "updateKind.localValue": "1.25.0", "updateKind.remoteValue": "1.26.0", "updateKind.semverDiff": "minor",
		} {
			same(t, field, at(c, field), want)
		}
	}
}

func TestClientWudCard(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
	w.put(nginx())
	browser := []string{"Origin", "https://ha.example.org", "Sec-Fetch-Site", "cross-site"}
	// It tries /api/v1 first and goes on to /api on 404 alone.
	call := func(method, path string) answer {
		t.Helper()
		w.do(method, "/api/v1/"+path, "", browser...).want(404)
		return w.do(method, "/api/"+path, "", browser...)
	}
	c := call("GET", "containers").want(200).list()[0]
	for field, want := range map[string]any{"id": nginx().ID, "displayName": "Web server", "image.tag.value": "1.25.0", "result.tag": "1.26.0"} {
		same(t, field, at(c, field), want)
	}
	same(t, "label", c["labels"].(map[string]any)["com.docker.compose.service"], any("nginx"))
	id := url.PathEscape(c["id"].(string))
	triggers := call("GET", "containers/"+id+"/triggers").want(200).list()
	for _, trigger := range triggers {
		if trigger["agent"] != nil {
			t.Errorf("it would add an agent to the path: %v", trigger)
		}
	}
	one := triggers[slices.IndexFunc(triggers, func(t map[string]any) bool { return t["type"] == "ntfy" })]
	call("POST", fmt.Sprintf("containers/%s/triggers/%s/%s", id, url.PathEscape(one["type"].(string)), url.PathEscape(one["name"].(string)))).want(200)
	call("POST", "containers/watch").want(200)
}

func TestClientWhatsUpDockerIntegration(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	w.client.Timeout = 5 * time.Second
	credentials := []string{"Authorization", basic("", "")}
	byName := map[string]map[string]any{}
	for _, c := range w.get("/api/containers", credentials...).want(200).list() {
		byName[c["name"].(string)] = c
	}
	c := byName["nginx"]
	same(t, "versions", []any{at(c, "image.tag.value"), at(c, "result.tag"), at(c, "result.link"), c["link"]}, []any{"1.25.0", "1.26.0", nginx().Result.Link, nginx().Link})
	if got := w.do("POST", "/api/containers/"+c["id"].(string)+"/triggers/ntfy/one", "", credentials...); got.status != 200 {
		t.Errorf("install answers %d", got.status)
	}
}

func TestClientHawud(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	bearer := []string{"Authorization", "Bearer eyJhbGciOi", "Content-Type", "application/json"}
	c := w.get("/api/containers", bearer...).want(200).list()[0]
	for _, field := range []string{"id", "name", "watcher", "image.tag.value", "image.digest.repo", "updateAvailable", "result.tag", "result.digest", "result.link"} {
		if at(c, field) == nil {
			t.Errorf("%s is missing", field)
		}
	}
	w.get("/api/containers/gone/triggers", bearer...).want(404)
	w.do("POST", "/api/containers/"+nginx().ID+"/watch", `{}`, bearer...).want(200)
	w.do("POST", "/api/containers/"+nginx().ID+"/triggers/smtp/gmail", `{}`, bearer...).want(200)
}

func TestClientWudMonitor(t *testing.T) {
	w := start(t, nil)
	failed := redis()
	failed.LinkTemplate, failed.TriggerInclude = "https://example.org", "smtp.gmail"
	w.put(nginx(), failed)
	list := w.get("/api/containers").want(200).list()
	for i, fields := range [][]string{
		{"updateKind.remoteValue", "updateKind.semverDiff", "result.tag", "result.link", "link", "linkTemplate", "image.created", "image.name", "image.tag.value", "image.registry.name", "status", "displayIcon"},
		{"error.message", "triggerInclude", "linkTemplate"},
	} {
		for _, field := range fields {
			if at(list[i], field) == nil {
				t.Errorf("%s of %v is missing", field, list[i]["name"])
			}
		}
	}
	same(t, "triggers", w.get("/api/containers/"+url.PathEscape(failed.ID)+"/triggers").want(200).names(), []string{"gmail"})
}

// TestClientMCP passes on every documented route.
func TestClientMCP(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	for _, path := range []string{"app", "containers", "containers/" + nginx().ID, "containers/" + nginx().ID + "/triggers", "registries", "registries/hub/public",
		"triggers", "triggers/smtp/gmail", "watchers", "watchers/docker/local", "store", "log", "server"} {
		if got := w.get("/api/"+path, "Authorization", basic("u", "p")).want(200); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
			t.Errorf("%s is %s", path, got.header.Get("Content-Type"))
		}
	}
	w.do("POST", "/api/triggers/smtp/gmail", `{"name":"test"}`, "Content-Type", "application/json").want(200)
	w.do("DELETE", "/api/containers/"+nginx().ID, "").want(204)
}

// TestScripts: what shell scripts with curl and jq read.
func TestScripts(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	c := w.get("/api/containers", "User-Agent", "curl/8.5.0", "Accept", "*/*").want(200).list()[0]
	same(t, "a bump", []any{at(c, "updateKind.kind"), at(c, "updateKind.localValue"), at(c, "result.tag"), at(c, "image.name")}, []any{"tag", "1.25.0", "1.26.0", "library/nginx"})
	// Refresh one container: forget it, and find it again.
	w.checks.watchAll = func() error { w.put(nginx()); return nil }
	w.do("DELETE", "/api/containers/"+nginx().ID, "").want(204)
	same(t, "found again", w.do("POST", "/api/containers/watch", "", "Content-Type", "application/x-www-form-urlencoded").want(200).names(), []string{"nginx"})
	// The healthcheck that the users of WUD have in their compose files.
	w.get("/health", "Host", "localhost:3000").want(200)
}

// TestScraper: a scrape job of Prometheus.
func TestScraper(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	got := w.get("/metrics", "Accept", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4", "Authorization", basic("u", "p")).want(200)
	if c := got.header.Get("Content-Type"); !strings.HasPrefix(c, "text/plain;") {
		t.Errorf("content type %q", c)
	}
	for _, want := range []string{`update_available="true"`, `wud_watcher_total{name="local",type="docker"} 1`, `dogwatch_component_failed{id="trigger.acme.x"} 1`,
		`dogwatch_containers{change="failed",watcher="remote"} 1`, "dogwatch_deliveries_pending 0", "go_goroutines"} {
		if !strings.Contains(string(got.body), want) {
			t.Errorf("%s is missing", want)
		}
	}
	off := start(t, []string{"DOGWATCH_PROMETHEUS_ENABLED=false"})
	same(t, "metrics that are off", string(off.get("/metrics").want(200).body), "\n")
}
