package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

// everyRoute has a request for each operation of the document, and the status it gets.
func everyRoute(w *testServer) map[string]struct {
	path, body string
	status     int
} {
	type request = struct {
		path, body string
		status     int
	}
	id := nginx().ID
	return map[string]request{
		"GET /":                    {"/", "", 200},
		"GET /health":              {"/health", "", 200},
		"GET /metrics":             {"/metrics", "", 200},
		"GET /api/app":             {"/api/app", "", 200},
		"GET /api/server":          {"/api/server", "", 200},
		"GET /api/log":             {"/api/log", "", 200},
		"POST /api/log":            {"/api/log", `{"level":"debug"}`, 200},
		"GET /api/log/entries":     {"/api/log/entries", "", 200},
		"GET /api/reload":          {"/api/reload", "", 409}, // nothing is read anew here
		"POST /api/reload":         {"/api/reload", "", 409},
		"GET /api/store":           {"/api/store", "", 200},
		"GET /api/health":          {"/api/health", "", 200},
		"GET /api/ready":           {"/api/ready", "", 503}, // two triggers of the fixture are misconfigured
		"GET /api/openapi.yaml":    {"/api/openapi.yaml", "", 200},
		"GET /api/summary":         {"/api/summary", "", 200},
		"GET /api/history":         {"/api/history", "", 200},
		"GET /api/badge.svg":       {"/api/badge.svg", "", 200},
		"GET /api/containers":      {"/api/containers", "", 200},
		"GET /api/types/{kind}":    {"/api/types/trigger", "", 200},
		"GET /api/watchers":        {"/api/watchers", "", 200},
		"GET /api/registries":      {"/api/registries", "", 200},
		"GET /api/triggers":        {"/api/triggers", "", 200},
		"GET /auth/strategies":     {"/auth/strategies", "", 200},
		"GET /auth/user":           {"/auth/user", "", 200},
		"POST /auth/login":         {"/auth/login", "", 200},
		"POST /auth/logout":        {"/auth/logout", "", 200},
		"POST /auth/remember":      {"/auth/remember", `{"remember":false}`, 200},
		"GET /api/plugins":         {"/api/plugins", "", 200},
		"GET /api/events":          {"/api/events", "", 200},
		"GET /api/deliveries":      {"/api/deliveries", "", 200},
		"GET /api/authentications": {"/api/authentications", "", 200},

		"GET /auth/oidc/{name}/redirect": {"/auth/oidc/none/redirect", "", 404},
		"GET /auth/oidc/{name}/cb":       {"/auth/oidc/none/cb", "", 404},
		"GET /agent/v1/link":             {"/agent/v1/link", "", 426}, // it asks for no WebSocket
		"GET /api/agents":                {"/api/agents", "", 200},
		"POST /api/agents":               {"/api/agents", `{"name":"nas"}`, 201},
		"DELETE /api/agents/{name}":      {"/api/agents/nas", "", 404},
		"POST /api/agents/{name}/doctor": {"/api/agents/nas/doctor", "", 404},
		"POST /api/agents/{name}/rename": {"/api/agents/nas/rename", `{"name":"attic"}`, 404},
		"GET /api/tokens":                {"/api/tokens", "", 403}, // no login is configured
		"POST /api/tokens":               {"/api/tokens", `{"name":"x"}`, 403},
		"DELETE /api/tokens/{id}":        {"/api/tokens/999999", "", 403},
		"GET /api/sessions":              {"/api/sessions", "", 403},
		"DELETE /api/sessions/{id}":      {"/api/sessions/0123456789abcdef", "", 403},
		"DELETE /api/links":              {"/api/links?trigger=ntfy.main", "", 422}, // public.url is not set

		"GET /api/push":                    {"/api/push", "", 200},
		"POST /api/push/devices":           {"/api/push/devices", `{"endpoint":"x","keys":{"p256dh":"","auth":""}}`, 422},
		"DELETE /api/push/devices/{id}":    {"/api/push/devices/nosuchdevice", "", 422}, // there can be none
		"POST /api/push/devices/{id}/test": {"/api/push/devices/nosuchdevice/test", "", 422},

		"GET /api/webhooks":               {"/api/webhooks", "", 200},
		"POST /api/webhooks/{name}":       {"/api/webhooks/ci", `{"image":"nginx"}`, 401},
		"POST /api/webhooks/{name}/check": {"/api/webhooks/ci/check", `{"image":"nginx"}`, 401},

		"POST /api/containers/watch":                       {"/api/containers/watch", "", 200},
		"GET /api/containers/{id}":                         {"/api/containers/" + id, "", 200},
		"DELETE /api/containers/{id}":                      {"/api/containers/" + url.PathEscape(redis().ID), "", 204},
		"POST /api/containers/{id}/watch":                  {"/api/containers/" + id + "/watch", "", 200},
		"GET /api/containers/{id}/explain":                 {"/api/containers/" + id + "/explain", "", 200},
		"GET /api/containers/{id}/notes":                   {"/api/containers/" + id + "/notes", "", 200},
		"GET /api/containers/{id}/log":                     {"/api/containers/" + id + "/log", "", 409}, // its watcher cannot
		"GET /api/containers/{id}/scan":                    {"/api/containers/" + id + "/scan", "", 200},
		"POST /api/containers/{id}/scan":                   {"/api/containers/" + id + "/scan", "", 409},
		"GET /api/containers/{id}/triggers":                {"/api/containers/" + id + "/triggers", "", 200},
		"POST /api/containers/{id}/triggers/{type}/{name}": {"/api/containers/" + id + "/triggers/ntfy/one", "", 200},
		"GET /api/watchers/{type}/{name}":                  {"/api/watchers/docker/local", "", 200},
		"GET /api/registries/{type}/{name}":                {"/api/registries/ecr/private", "", 200},
		"GET /api/triggers/{type}/{name}":                  {"/api/triggers/smtp/gmail", "", 200},
		"POST /api/triggers/{type}/{name}":                 {"/api/triggers/smtp/gmail", `{"name":"x"}`, 200},
		"POST /api/watchers/{type}/{name}/test":            {"/api/watchers/docker/local/test", "", 200},
		"POST /api/registries/{type}/{name}/test": {"/api/registries/hub/private/test",
			`{"image":"me/app:1.0"}`, 200},
		"POST /api/triggers/{type}/{name}/test":  {"/api/triggers/smtp/gmail/test", "", 200},
		"GET /api/authentications/{type}/{name}": {"/api/authentications/anonymous/anonymous", "", 200},
		"GET /api/plugins/gallery":               {"/api/plugins/gallery", "", 200},
		"POST /api/plugins/{name}/install":       {"/api/plugins/bell/install", "", 409},
		"POST /api/plugins/{name}/update":        {"/api/plugins/bell/update", "", 409},
		"POST /api/plugins/{name}/rollback":      {"/api/plugins/bell/rollback", "", 409},
		"POST /api/plugins/{name}/restart":       {"/api/plugins/test/restart", "", 202},
		"POST /api/plugins/{name}/trust":         {"/api/plugins/test/trust", `{"sha256":"00"}`, 409},
		"POST /api/plugins/{name}/grant":         {"/api/plugins/test/grant", `{"capability":"engine","granted":true}`, 404},
		"GET /api/containers/{id}/diff":          {"/api/containers/" + id + "/diff", "", 200},
		"POST /api/containers/{id}/plan":         {"/api/containers/" + id + "/plan", "", 200},
		"GET /api/choices":                       {"/api/choices", "", 200},
		"GET /api/containers/{id}/decision":      {"/api/containers/" + id + "/decision", "", 200},
		"POST /api/containers/{id}/decision":     {"/api/containers/" + id + "/decision", `{"action":"skip"}`, 200},
		"DELETE /api/containers/{id}/decision":   {"/api/containers/" + id + "/decision", "", 200},
		"POST /api/containers/{id}/snooze":       {"/api/containers/" + id + "/snooze", "", 200},
		"DELETE /api/containers/{id}/snooze":     {"/api/containers/" + id + "/snooze", "", 200},
		"POST /api/containers/{id}/update":       {"/api/containers/" + id + "/update", "", 202},
		"POST /api/containers/{id}/rollback":     {"/api/containers/" + id + "/rollback", "", 202},
		"GET /api/operations":                    {"/api/operations", "", 200},
		"GET /api/operations/{id}":               {"/api/operations/op1", "", 200},
		"POST /api/operations/{id}/cancel":       {"/api/operations/op1/cancel", "", 202},
		"POST /api/deliveries/{id}/retry": {fmt.Sprintf("/api/deliveries/%d/retry",
			w.addDelivery(delivery.Failed)), "", 202},
	}
}

// without the restart, which the tests share.
func (w *testServer) routes() map[string]struct {
	path, body string
	status     int
} {
	all := everyRoute(w)
	delete(all, "POST /api/plugins/{name}/restart")
	return all
}

func TestEveryRouteRespondsAsDocumented(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	all := everyRoute(w)
	for _, operation := range documented(t) {
		r, tested := all[operation]
		if !tested {
			t.Errorf("%s is not tested", operation)
			continue
		}
		method, _, _ := strings.Cut(operation, " ")
		if got := w.do(method, r.path, r.body); got.status != r.status {
			t.Errorf("%s gets %d, want %d: %s", operation, got.status, r.status, got.body)
		}
	}
}

func TestTrailingSlashAndLetterCase(t *testing.T) {
	w := start(t, nil)
	for operation, r := range w.routes() {
		method, _, _ := strings.Cut(operation, " ")
		for _, path := range []string{r.path + "/", strings.ToUpper(r.path),
			strings.ToUpper(r.path[:len(r.path)/2]) + r.path[len(r.path)/2:] + "/"} {
			w.put(nginx(), redis())
			status := r.status
			if strings.HasSuffix(operation, "/retry") {
				status = http.StatusConflict // it was retried by the first
				w.do(method, r.path, "")
			}
			if strings.HasPrefix(operation, "GET /api/types") && strings.Contains(path, "TRIGGER") {
				status = http.StatusOK
			}
			path = strings.ReplaceAll(path, "%C3%A9", "%c3%a9")
			if got := w.do(method, path, r.body); got.status != status {
				t.Errorf("%s %s gets %d, want %d: %s", method, path, got.status, status, got.body)
			}
		}
	}
}

// TestNamesInPaths: ids and names are found escaped or not, in any letter case, and are quoted back as they were
// written.
func TestNamesInPaths(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	for _, path := range []string{"/api/containers/AbC%2F%C3%A9%201", "/api/containers/abc%2f%c3%a9%201/",
		"/api/%63ontainers/%41bC%2F%C3%A9%201"} {
		if got := w.get(path).want(200); got.object()["name"] != "redis" {
			t.Errorf("%s finds %s", path, got.body)
		}
	}
	for _, path := range []string{"/api/registries/ECR/Private", "/api/registries/%65cr/private"} {
		if got := w.get(path).want(200); got.object()["id"] != "ecr.private" {
			t.Errorf("%s finds %s", path, got.body)
		}
	}
	w.do("POST", "/api/triggers/ntfy/NoSuch", "{}").fails(404,
		"Error when running trigger ntfy.NoSuch (trigger not found)")
	for _, path := range []string{
		"/api/triggers/ntfy/onn", "/api/triggers/ntfy/onn/test", "/api/containers/AbC%2F%C3%A9%201/triggers/ntfy/onn",
	} {
		w.do("POST", path, "{}").fails(404, "did you mean ntfy.one?")
	}
	w.get("/api/triggers/ntfy/onn").fails(404, "Not Found: did you mean ntfy.one?")
	w.do("POST", "/api/plugins/TEST/trust", `{"sha256":"00"}`).fails(409, "test is built in")
	w.get("/api/containers/AbC/é 1").fails(404)
	w.do("POST", "/api/containers//watch", "").fails(404, "Container not found")
}

func TestHeadRespondsAsGet(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	for operation, r := range w.routes() {
		if !strings.HasPrefix(operation, "GET ") {
			continue
		}
		got := w.do("HEAD", r.path, "")
		if got.status != r.status || len(got.body) > 0 {
			t.Errorf("HEAD %s gets %d with %d bytes, want %d", r.path, got.status, len(got.body), r.status)
		}
		if want := w.get(r.path).header.Get("Content-Type"); got.header.Get("Content-Type") != want {
			t.Errorf("HEAD %s has content type %q, want %q", r.path, got.header.Get("Content-Type"), want)
		}
	}
	// A stream has no end, but its head has.
	if got := w.do("HEAD", "/api/events", "", "Accept",
		"text/event-stream").want(200); got.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("content type %q", got.header.Get("Content-Type"))
	}
}

func TestOptionsListsMethods(t *testing.T) {
	w := start(t, nil)
	for path, want := range map[string]string{
		"/api/containers":         "GET, HEAD",
		"/api/containers/":        "GET, HEAD",
		"/api/containers/watch":   "GET, HEAD, POST, DELETE", // also a container whose id is "watch"
		"/api/containers/x":       "GET, HEAD, DELETE",
		"/api/containers/x/watch": "POST",
		"/api/triggers/smtp/main": "GET, HEAD, POST",
		"/health":                 "GET, HEAD",
	} {
		if got := w.do("OPTIONS", path, "").want(200).header.Get("Allow"); got != want {
			t.Errorf("OPTIONS %s allows %q, want %q", path, got, want)
		}
	}
	w.do("OPTIONS", "/api/nothing", "").fails(404)
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "PROPFIND"}

func TestMethodNotAllowed(t *testing.T) {
	w := start(t, nil)
	for operation, r := range w.routes() {
		path := strings.TrimPrefix(operation, strings.Fields(operation)[0]+" ")
		allowed := []string{"OPTIONS"}
		for _, other := range documented(t) {
			method, p, _ := strings.Cut(other, " ")
			// A static part is found by a parameter of the same place too.
			if p == path || path == "/api/containers/watch" && p == "/api/containers/{id}" {
				allowed = append(allowed, method)
			}
		}
		if slices.Contains(allowed, "GET") {
			allowed = append(allowed, "HEAD")
		}
		for _, method := range methods {
			if slices.Contains(allowed, method) {
				continue
			}
			got := w.do(method, r.path, "")
			if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") == "" {
				t.Errorf("%s %s gets %d, Allow %q", method, r.path, got.status, got.header.Get("Allow"))
			}
		}
	}
	w.get("/api/containers/watch").fails(404, "Container not found")
}

// TestVersionedPathsAreExactly404: clients that try /api/v1 first go on to /api only then.
func TestVersionedPathsAreExactly404(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	for _, path := range []string{"/api/v1", "/api/v1/", "/api/v1/containers", "/API/V1/Containers/",
		"/api/v1/containers/watch", "/api/v1/containers/" + nginx().ID + "/triggers", "/api/v1/app"} {
		for _, method := range methods {
			body := ""
			if method == "POST" {
				body = strings.Repeat("x", maxBody+1)
			}
			if got := w.do(method, path, body); got.status != http.StatusNotFound {
				t.Errorf("%s %s gets %d", method, path, got.status)
			}
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	w := start(t, nil)
	for _, path := range []string{"/api", "/api/", "/api/nope", "/apix", "/health/x", "/metrics/x", "/auth",
		"/auth/oidc/x/redirect", "/api/watchers/docker", "/index.html", "/../etc/passwd", "/api/../../x",
		"//api/containers"} {
		w.get(path).fails(404, "Not Found")
	}
	w.get("/api/watchers/docker/nope").fails(404)
	w.get("/api/authentications/basic/john").fails(404)
	w.get("/api/types/colour").fails(404, "watcher, registry or trigger")
}

// TestResponsesAreNotCached: every section but the pages forbids caching, in its errors too.
func TestResponsesAreNotCached(t *testing.T) {
	w := start(t, nil)
	for path, status := range map[string]int{
		"/api/containers": 200, "/API/app/": 200, "/health": 200, "/metrics": 200, "/auth/user": 200,
		"/api/containers/x": 404, "/api/watchers/docker": 404,
	} {
		h := w.get(path).want(status).header
		if h.Get("Surrogate-Control") != "no-store" || h.Get("Expires") != "0" ||
			h.Get("Cache-Control") != "no-store, no-cache, must-revalidate, proxy-revalidate" {
			t.Errorf("%s: %v", path, h)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s lets browsers guess its type", path)
		}
		// Dashboards show the pages of other tools in frames.
		if h.Get("X-Frame-Options") != "" {
			t.Errorf("%s forbids frames", path)
		}
	}
	if h := w.get("/apix").want(404).header; h.Get("Surrogate-Control") != "" {
		t.Errorf("/apix: %v", h)
	}
}

func TestBasePath(t *testing.T) {
	w := start(t, []string{"DOGWATCH_SERVER_BASEPATH=/tools/Dog"})
	w.put(nginx(), redis())
	for _, prefix := range []string{"", "/tools/Dog", "/TOOLS/dog", "/%74ools/Dog"} {
		w.get(prefix + "/").want(200)
		w.get(prefix + "/health").want(200)
		w.get(prefix + "/api/containers/").want(200)
		w.get(prefix + "/api/containers/AbC%2F%C3%A9%201").want(200)
		w.get(prefix + "/api/v1/containers").fails(404)
		w.do("POST", prefix+"/api/containers/watch", "").want(200)
	}
	w.get("/tools/Dog").want(200)
	w.get("/tools/dogs/api/containers").fails(404)
	w.get("/tools/api/containers").fails(404)
	w.get("/tools/Dog/tools/Dog/health").fails(404)
	same(t, "basepath", w.get("/api/server").object()["configuration"].(map[string]any)["basepath"], any("/tools/Dog/"))
}
