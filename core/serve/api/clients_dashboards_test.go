package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClientHomepage counts containers and updates, with each of its ways to log in. Anything but 200 is an error on
// its page.
func TestClientHomepage(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	for _, credentials := range [][]string{nil, {"Authorization", basic("john", "doe")},
		{"Authorization", "Bearer wud_0123456789abcdef"}} {
		list := w.as(30*time.Second,
			append([]string{"User-Agent", "homepage", "Accept", "*/*"},
				credentials...)...).get("/api/containers").want(200).list()
		updates := 0
		for _, c := range list {
			reads{"updateAvailable": "boolean"}.from(t, "Homepage", c)
			if c["updateAvailable"] == true {
				updates++
			}
		}
		same(t, "monitoring and updates", []int{len(list), updates}, []int{5, 2})
	}
}

// TestClientHomarr tests the connection first, and validates each item: one that fails makes it reject the whole list.
func TestClientHomarr(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	c := w.as(10*time.Second, "Authorization", basic("john", "doe"), "Accept", "application/json")
	if got := c.get("/api/app").want(200); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") ||
		got.object()["name"] == nil {
		t.Errorf("the test of the connection fails: %v", got.header)
	}
	list := c.get("/api/containers").want(200).list()
	for _, item := range list {
		reads{
			"id": "string", "name": "string", "updateAvailable": "boolean", "displayName": "string?", "link": "string?",
			"image": "object?", "image.name": "string?", "image.tag": "object?", "image.tag.value": "string?",
			"updateKind": "object?", "updateKind.remoteValue": "string?", "result": "object?", "result.tag": "string?",
			"result.link": "string?",
		}.from(t, "Homarr", item)
		if item["updateAvailable"] == true && at(item, "result.tag") == nil {
			t.Errorf("%v has an update to nothing", item["name"])
		}
	}
	same(t, "what it shows",
		[]any{at(list[2], "image.tag.value"), at(list[2], "updateKind.remoteValue"), at(list[2], "result.link")},
		[]any{"1.25.0", "1.26.0", nginx().Result.Link})
}

// TestClientHomer runs in a browser, on another origin, with the headers that its user chose.
func TestClientHomer(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
	w.put(varied()...)
	page := []string{"Origin", "https://homer.example.org", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors",
		"Sec-Fetch-Dest", "empty"}
	preflight := w.do("OPTIONS", "/api/containers", "",
		append(page, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")...).want(204)
	same(t, "allowed headers", preflight.header.Get("Access-Control-Allow-Headers"), "authorization")
	got := w.as(30*time.Second, append(page, "Authorization", basic("john", "doe"))...).get("/api/containers").want(200)
	same(t, "origin", got.header.Get("Access-Control-Allow-Origin"), "*")
	updates := slices.DeleteFunc(got.list(), func(c map[string]any) bool { return c["updateAvailable"] != true })
	same(t, "updates", len(updates), 2)
}

// glance is what both forms of the widget read.
var glance = reads{
	"updateAvailable": "boolean", "status": "string", "name": "string", "watcher": "string",
	"image.registry.name": "string", "image.name": "string",
	"updateKind": "object", "updateKind.kind": "string", "updateKind.localValue": "string?",
	"updateKind.remoteValue": "string?", "updateKind.semverDiff": "string?",
}

// TestClientGlance requests with a slash at the end; its old form starts a check and takes the response for the list.
func TestClientGlance(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	c := w.as(60*time.Second, "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:137.0) Gecko/20100101 Firefox/137.0")
	for _, got := range []response{c.get("/api/containers/"), c.get("/api/containers"),
		c.do("POST", "/api/containers/watch", "")} {
		list := got.want(200).list()
		same(t, "names", got.names(), variedNames)
		var running, links []string
		for _, item := range list {
			if item["name"] != "fresh" { // which has no result that could differ
				glance.from(t, "Glance", item)
			}
			if item["status"] == "running" {
				running = append(running, fmt.Sprint(item["name"]))
			}
			switch at(item, "image.registry.name") {
			case "hub.public":
				links = append(links, "https://hub.docker.com/r/"+at(item, "image.name").(string))
			case "ghcr.public":
				links = append(links, "https://ghcr.io/"+at(item, "image.name").(string))
			}
		}
		same(t, "running", running, []string{"cache", "nginx", "proxy"})
		same(t, "links", len(links), 5)
		updated := byName(t, list, "nginx")
		same(t, "the update",
			[]any{at(updated, "updateKind.kind"), at(updated, "updateKind.localValue"),
				at(updated, "updateKind.remoteValue"), at(updated, "updateKind.semverDiff")},
			[]any{"tag", "1.25.0", "1.26.0", "minor"})
	}
}

// TestClientWudCard is a card of Home Assistant in a browser. Each path is requested
// below /api/v1 first, and below /api on 404 alone; the triggers of each container are requested.
func TestClientWudCard(t *testing.T) {
	for _, credentials := range []string{"", "Bearer wud_0123456789abcdef", basic("john", "doe")} {
		w := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
		w.put(varied()...)
		headers := []string{"Origin", "https://ha.example.org", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
			"cors", "Accept", "application/json"}
		if credentials != "" {
			headers = append(headers, "Authorization", credentials)
		}
		c := w.as(30*time.Second, headers...)
		call := func(method, path string) response {
			t.Helper()
			c.do(method, "/api/v1/"+path, "").want(404)
			got := c.do(method, "/api/"+path, "")
			same(t, "origin", got.header.Get("Access-Control-Allow-Origin"), "*")
			return got
		}
		for _, method := range []string{"GET", "POST"} {
			preflight := append(slices.Clone(headers), "Access-Control-Request-Method", method,
				"Access-Control-Request-Headers", "authorization,content-type")
			for _, path := range []string{"/api/v1/containers", "/api/containers/watch"} {
				w.do("OPTIONS", path, "", preflight...).want(204)
			}
		}
		list := call("GET", "containers").want(200).list()
		for _, item := range list {
			reads{
				"id": "string", "name": "string", "displayName": "string?", "image.name": "string",
				"image.tag.value": "string", "labels": "object?", "updateAvailable": "boolean", "result": "object?",
				"result.tag": "string?",
			}.
				from(t, "wud-card", item)
			triggers := call("GET", "containers/"+url.PathEscape(item["id"].(string))+"/triggers").want(200).list()
			for _, trigger := range triggers {
				reads{"id": "string", "name": "string", "type": "string"}.from(t, "wud-card", trigger)
				if trigger["agent"] != nil {
					t.Errorf("it would add an agent to the path: %v", trigger)
				}
			}
		}
		one := byName(t, list, "nginx")
		same(t, "its name", []string{label(one, "com.docker.compose.service"), fmt.Sprint(one["displayName"])},
			[]string{"nginx", "Web server"})
		// Ids and names are escaped, whatever is in them.
		for _, id := range []string{one["id"].(string), redis().ID} {
			call("POST",
				fmt.Sprintf("containers/%s/triggers/%s/%s", url.PathEscape(id), url.PathEscape("ntfy"),
					url.PathEscape("one"))).want(200)
		}
		same(t, "runs", len(w.triggers.runs), 2)
		call("POST", "containers/watch").want(200)
	}
}

// TestClientMultihostWudCard reads entities of MQTT discovery; Home Assistant's
// rest_command requests the check.
func TestClientMultihostWudCard(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	checked := 0
	w.checks.watchAll = func() error { checked++; return nil }
	c := w.as(10*time.Second, "User-Agent", "HomeAssistant/2026.1.2 aiohttp/3.11 Python/3.13", "Content-Type",
		"application/json")
	c.do("POST", "/api/containers/watch", "").want(200)
	same(t, "checks", checked, 1)
}

// TestClientFrames: Dashy, Organizr and MagicMirror have no widget of their own; they show the page in a frame, or read
// the list.
func TestClientFrames(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	for _, path := range []string{"/", "/api/containers"} {
		h := w.get(path, "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
			"navigate").want(200).header
		if h.Get("X-Frame-Options") != "" || strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors") {
			t.Errorf("%s may not be framed: %v", path, h)
		}
	}
}
