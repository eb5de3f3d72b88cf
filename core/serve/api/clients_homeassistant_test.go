package api

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

const homeAssistant = "HomeAssistant/2026.1.2 aiohttp/3.11 Python/3.13"

// TestClientWhatsUpDockerIntegration polls every five seconds, for five at most,
// always with credentials, and installs by the trigger that a label names.
func TestClientWhatsUpDockerIntegration(t *testing.T) {
	w := start(t, nil)
	containers := varied()
	containers[0].Labels["wud.trigger.hass"] = "ntfy.one"
	containers[1].Link, containers[1].Result.Link = "undefined", "https://example.org/."
	w.put(containers...)
	c := w.as(5*time.Second, "User-Agent", homeAssistant, "Authorization", basic("", ""), "Accept", "application/json")
	var list []map[string]any
	for range 3 { // it never stops
		list = c.get("/api/containers").want(200).list()
	}
	for _, item := range list {
		reads{"id": "string", "name": "string", "image": "object", "image.tag": "object", "image.tag.value": "string",
			"updateAvailable": "boolean",
			"result":          "object?", "result.tag": "string?", "result.link": "string?", "link": "string?",
			"labels": "object?"}.from(t, "What's Up Docker", item)
		if item["updateAvailable"] == true && formOf(item, "result.tag") != "string" {
			t.Errorf("%v has an update without a version", item["name"])
		}
		for _, path := range []string{"link", "result.link"} {
			if text, _ := at(item, path).(string); strings.ReplaceAll(strings.TrimSuffix(text, "."), "undefined",
				"") != "" && !strings.HasPrefix(text, "https://") {
				t.Errorf("%s of %v is %q", path, item["name"], text)
			}
		}
	}
	one := byName(t, list, "nginx")
	typ, name, _ := strings.Cut(label(one, "wud.trigger.hass"), ".")
	if got := c.do("POST", fmt.Sprintf("/api/containers/%s/triggers/%s/%s", one["id"], typ, name), ""); got.status != 200 {
		t.Errorf("install gets %d", got.status)
	}
	triggerRun := w.triggers.last(t)
	same(t, "what ran", []any{triggerRun.id, triggerRun.containers[0].ID, triggerRun.test},
		[]any{"ntfy.one", nginx().ID, false})
}

// TestClientHawud updates by a trigger that it looks up, and checks one container after that.
func TestClientHawud(t *testing.T) {
	for _, credentials := range []string{"", basic("john", "doe"), "Bearer wud_0123456789abcdef",
		"Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln"} {
		w := start(t, nil)
		w.put(varied()...)
		headers := []string{"User-Agent", homeAssistant, "Content-Type", "application/json"}
		if credentials != "" {
			headers = append(headers, "Authorization", credentials)
		}
		c := w.as(30*time.Second, headers...)
		list := c.get("/api/containers").want(200).list()
		for _, item := range list {
			reads{"id": "string", "name": "string", "watcher": "string", "image.tag.value": "string",
				"image.digest": "object", "image.digest.repo": "string?", "updateAvailable": "boolean",
				"result": "object?", "result.tag": "string?", "result.digest": "string?",
				"result.link": "string?"}.from(t, "hawud", item)
		}
		same(t, "a new digest",
			[]any{at(byName(t, list, "cache"), "image.digest.repo"), at(byName(t, list, "cache"), "result.digest")},
			[]any{"sha256:3e2b8c", "sha256:9f"})
		c.get("/api/containers/gone/triggers").want(404) // is "none" to it
		for _, item := range c.get("/api/containers/" + nginx().ID + "/triggers").want(200).list() {
			reads{"id": "string", "type": "string", "name": "string"}.from(t, "hawud", item)
		}
		w.client.Timeout = 120 * time.Second
		c.do("POST", "/api/containers/"+nginx().ID+"/triggers/smtp/gmail", `{}`).want(200)
		w.client.Timeout = 60 * time.Second
		checked := c.do("POST", "/api/containers/"+nginx().ID+"/watch", `{}`).want(200).object()
		same(t, "what it checked", checked["id"], any(nginx().ID))
	}
}

// TestClientWudMonitor and its variants read nearly everything. A trigger that takes too long counts as still running.
func TestClientWudMonitor(t *testing.T) {
	w := start(t, nil)
	containers := varied()
	containers[3].LinkTemplate, containers[3].TriggerInclude = "https://example.org", "smtp.gmail"
	containers[0].Labels["org.opencontainers.image.version"] = "1.25.0"
	w.put(containers...)
	for _, credentials := range []string{"", basic("john", "doe"), "Bearer wud_0123456789abcdef"} {
		headers := []string{"User-Agent", homeAssistant}
		if credentials != "" {
			headers = append(headers, "Authorization", credentials)
		}
		c := w.as(15*time.Second, headers...)
		list := c.get("/api/containers").want(200).list() // an object with items would do as well
		for _, item := range list {
			reads{"name": "string", "watcher": "string", "updateAvailable": "boolean", "updateKind": "object?",
				"updateKind.remoteValue": "string?", "updateKind.semverDiff": "string?",
				"result": "object?", "result.tag": "string?", "result.link": "string?", "link": "string?",
				"linkTemplate": "string?", "error": "object?", "error.message": "string?",
				"image.created": "string?", "image.name": "string", "image.tag.value": "string",
				"image.registry.name": "string", "status": "string", "displayIcon": "string?",
				"triggerInclude": "string?", "labels": "object?"}.from(t, "Wud Monitor", item)
		}
		reads{"updateKind.remoteValue": "string", "updateKind.semverDiff": "string", "result.tag": "string",
			"result.link": "string", "link": "string", "linkTemplate": "string",
			"image.created": "string", "displayIcon": "string", "labels[com.docker.compose.project]": "string",
			"labels[org.opencontainers.image.version]": "string"}.
			from(t, "Wud Monitor", byName(t, list, "nginx"))
		failed := byName(t, list, "redis")
		reads{"error.message": "string", "triggerInclude": "string", "linkTemplate": "string"}.from(t, "Wud Monitor", failed)
		triggers := c.get("/api/containers/" + url.PathEscape(failed["id"].(string)) + "/triggers").want(200)
		same(t, "triggers", triggers.names(), []string{"gmail"})
		reads{"id": "string", "name": "string"}.from(t, "Wud Monitor", triggers.list()[0])
		c.do("POST", "/api/containers/watch", "").want(200)
		c.do("POST", "/api/containers/"+url.PathEscape(failed["id"].(string))+"/watch", "").want(200)
	}
	began, release := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	w.triggers.run = func(ctx context.Context) error { close(began); <-release; ended <- ctx.Err(); return nil }
	leaving(t, w, "/api/containers/"+nginx().ID+"/triggers/smtp/gmail", began)
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("it did not go on: %v", err)
	}
}
