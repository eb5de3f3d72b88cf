package api

import (
	"context"
	"encoding/base64"
	"fmt"
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

// TestClientWUDup updates what it is told of.
func TestClientWUDup(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	contractContainer.check(t, "whole container", w.get("/api/containers").want(200).list()[0])
	w.do("POST", "/api/containers/watch", "").want(200)
	w.do("POST", "/api/containers/"+nginx().ID+"/watch", "").want(200)
}

// TestUpdatersInProxyTools try the other path on 404 only, and take any 2xx for success.
func TestUpdatersInProxyTools(t *testing.T) {
	w := start(t, nil)
	w.do("POST", "/api/containers/watch", "").want(200)
	w.do("POST", "/api/v1/containers/watch", "").want(404)
}

// TestReportScripts read these with credentials.
func TestReportScripts(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	c := w.get("/api/containers", "Authorization", basic("report", "x")).want(200).list()[0]
	for _, field := range []string{"name", "displayName", "image.name", "image.tag.value", "updateAvailable", "updateKind.semverDiff", "updateKind.kind", "result.tag"} {
		if at(c, field) == nil {
			t.Errorf("%s is missing", field)
		}
	}
	same(t, "project", c["labels"].(map[string]any)["com.docker.compose.project"], any("web"))
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
