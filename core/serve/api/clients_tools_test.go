package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestClientMCP passes on every documented route to an assistant, as JSON. Its
// later form, for later versions, sends a token.
func TestClientMCP(t *testing.T) {
	for _, credentials := range []string{basic("john", "doe"), "Bearer wud_0123456789abcdef"} {
		w := start(t, nil)
		w.put(varied()...)
		c := w.as(10*time.Second, "Authorization", credentials, "Accept", "application/json")
		id := url.PathEscape(redis().ID)
		for _, path := range []string{"app", "containers", "containers/" + id, "containers/" + id + "/triggers",
			"registries", "registries/hub/public",
			"triggers", "triggers/smtp/gmail", "watchers", "watchers/docker/local", "store", "log", "server",
			"authentications"} {
			if got := c.get("/api/" + path).want(200); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
				t.Errorf("%s is %s", path, got.header.Get("Content-Type"))
			}
		}
		c.do("POST", "/api/containers/watch", "").want(200)
		c.do("POST", "/api/containers/"+id+"/watch", "").want(200)
		c.do("POST", "/api/containers/"+id+"/triggers/ntfy/one", "").want(200)
		c.testServer.do("POST", "/api/triggers/smtp/gmail", `{"name":"test"}`, "Authorization", credentials,
			"Content-Type", "application/json").want(200)
		c.do("DELETE", "/api/containers/"+id, "").want(204)
		c.get("/api/containers/"+id).fails(404, "Container not found")
	}
}

// TestClientWUDup updates compose projects by what the list, the http trigger and the command trigger send.
func TestClientWUDup(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	c := w.as(30 * time.Second)
	contractContainer.check(t, "whole container", byName(t, c.get("/api/containers").want(200).list(), "nginx"))
	c.do("POST", "/api/containers/watch", "").want(200)
	c.do("POST", "/api/containers/"+nginx().ID+"/watch", "").want(200)
}

// TestClientProxyUpdaters try the other path on 404 only. Any 2xx is success to them; they read nothing.
func TestClientProxyUpdaters(t *testing.T) {
	w := start(t, nil)
	c := w.as(30*time.Second, "User-Agent", "Go-http-client/1.1")
	if got := c.do("POST", "/api/containers/watch", ""); got.status/100 != 2 {
		t.Errorf("gets %d", got.status)
	}
	c.do("POST", "/api/v1/containers/watch", "").want(404)
}

// TestClientBumpScripts change the tag in compose files, with curl and jq.
func TestClientBumpScripts(t *testing.T) {
	w := start(t, nil)
	containers := varied()
	containers[0].Labels["com.docker.compose.project.config_files"] = "/srv/web/compose.yaml"
	w.put(containers...)
	var bumps []string
	for _, item := range w.as(0, "User-Agent", "curl/8.5.0", "Accept", "*/*").get("/api/containers").want(200).list() {
		if at(item, "updateKind.kind") != "tag" {
			continue
		}
		reads{
			"updateKind.localValue": "string", "result.tag": "string", "image.name": "string",
			"labels[com.docker.compose.service]": "string", "labels[com.docker.compose.project.config_files]": "string",
		}.
			from(t, "a script", item)
		bumps = append(bumps,
			fmt.Sprint(label(item, "com.docker.compose.project.config_files"), " ",
				label(item, "com.docker.compose.service"), " ", at(item, "image.name"), ":",
				at(item, "updateKind.localValue"), " ", at(item, "result.tag")))
	}
	same(t, "bumps", bumps, []string{"/srv/web/compose.yaml nginx library/nginx:1.25.0 1.26.0"})
}

// TestClientReportScripts list what there is to update, by compose project.
func TestClientReportScripts(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	var report []string
	for _, item := range w.as(30*time.Second, "Authorization", basic("report", "x"), "User-Agent",
		"python-requests/2.32.3").get("/api/containers").want(200).list() {
		reads{"name": "string", "displayName": "string?", "image.name": "string", "image.tag.value": "string",
			"updateAvailable": "boolean", "updateKind": "object?", "updateKind.semverDiff": "string?",
			"updateKind.kind": "string?",
			"result":          "object?", "result.tag": "string?", "labels": "object?"}.from(t, "a report", item)
		if item["updateAvailable"] != true {
			continue
		}
		step := at(item, "updateKind.semverDiff")
		if step == nil {
			step = at(item, "updateKind.kind")
		}
		report = append(report,
			fmt.Sprintf("%s/%v %v -> %v (%v)", label(item, "com.docker.compose.project"), item["displayName"],
				at(item, "image.tag.value"), at(item, "result.tag"), step))
	}
	same(t, "the report", report,
		[]string{"web/cache latest -> latest (digest)", "web/Web server 1.25.0 -> 1.26.0 (minor)"})
}

// TestClientManualTests run a trigger with a made-up container: what it has must do.
func TestClientManualTests(t *testing.T) {
	w := start(t, nil)
	for body, want := range map[string]sdk.Container{
		`{"id":"123456789","name":"container_test","watcher":"watcher_test","updateKind":{"kind":"tag","semverDiff":"patch","localValue":"1.2.3","remoteValue":"1.2.4","result":{"link":"https://my-container/release-notes/"}}}`: {
			ID: "123456789", Name: "container_test", Watcher: "watcher_test",
			UpdateKind: sdk.UpdateKind{Kind: "tag", SemverDiff: "patch", LocalValue: "1.2.3", RemoteValue: "1.2.4",
				Result: &sdk.Result{Link: "https://my-container/release-notes/"}}},
		`{"name":"test"}`: {Name: "test"},
		`{"name":"test","updateKind":{"kind":"digest","localValue":"sha256:a","remoteValue":"sha256:b"},"result":{"tag":"latest"},"image":null,"error":null}`: {Name: "test",
			UpdateKind: sdk.UpdateKind{Kind: "digest", LocalValue: "sha256:a", RemoteValue: "sha256:b"},
			Result:     &sdk.Result{Tag: "latest"}},
	} {
		// the last is what curl -d says
		for _, form := range []string{"application/json", "application/json; charset=utf-8",
			"application/x-www-form-urlencoded"} {
			same(t, "the response",
				string(w.do("POST", "/api/triggers/smtp/gmail", body, "Content-Type", form).want(200).body), "{}")
			same(t, "what ran", w.triggers.last(t).containers, []sdk.Container{want})
		}
	}
}

// TestClientRefreshHabit: forget a container, check, and it is back with a fresh record.
func TestClientRefreshHabit(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	again := nginx()
	again.Result, again.UpdateAvailable, again.UpdateKind = &sdk.Result{Tag: "1.25.0"}, false, sdk.UpdateKind{
		Kind: sdk.KindUnknown,
	}
	w.checks.watchAll = func() error { w.put(again); return nil }
	c := w.as(30*time.Second, "User-Agent", "curl/8.5.0")
	c.do("DELETE", "/api/containers/"+nginx().ID, "").want(204)
	c.get("/api/containers/" + nginx().ID).want(404)
	list := c.testServer.do("POST", "/api/containers/watch", "", "User-Agent", "curl/8.5.0", "Content-Type",
		"application/x-www-form-urlencoded").want(200).list()
	same(t, "its result", at(byName(t, list, "nginx"), "result.tag"), any("1.25.0"))
}

// TestClientHealthchecks: what users copied into their compose files, and what monitors send.
func TestClientHealthchecks(t *testing.T) {
	w := start(t, nil)
	for _, got := range []response{
		w.get("/health", "Host", "localhost:3000", "User-Agent", "curl/8.5.0"), w.get("/health/"), w.get("/HEALTH"),
		w.do("HEAD", "/health", ""),
		w.get("/health", "Host", "127.0.0.1:3000", "User-Agent", "Wget"),
	} {
		got.want(200)
	}
	reads{"uptime": "number"}.from(t, "a monitor", w.get("/health").object())
	// Uptime monitors request any page by HEAD.
	for _, path := range []string{"/", "/api/containers", "/api/app", "/metrics"} {
		if got := w.do("HEAD", path, "", "User-Agent", "Uptime-Kuma/2.0"); got.status != 200 || len(got.body) > 0 {
			t.Errorf("HEAD %s gets %d with %d bytes", path, got.status, len(got.body))
		}
	}
}

// TestClientLabelReaders are cluster managers that read the labels of containers themselves, and find them unchanged in
// the list.
func TestClientLabelReaders(t *testing.T) {
	w := start(t, nil)
	c := nginx()
	c.Labels = map[string]string{"wud.watch": "true", "wud.watch.digest": "true", "wud.tag.include": `^\d+$`,
		"wud.tag.exclude": "beta", "wud.tag.transform": "^v(.*)$ => $1",
		"wud.display.name": "Web & more", "wud.display.icon": "mdi-docker", "empty": "", "ünï": "…"}
	w.put(c)
	same(t, "labels", w.get("/api/containers").want(200).list()[0]["labels"], any(c.Labels))
}
