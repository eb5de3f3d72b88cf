package api

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// The tables of the interface contract: the path of each field and its JSON type.
type fieldsTable map[string]string

var (
	contractContainer = fieldsTable{
		"id": "string", "name": "string", "watcher": "string", "includeTags": "string", "image": "object",
		"result": "object", "updateAvailable": "boolean",
		"result.tag": "string", "result.link": "string",
		"image.id": "string", "image.registry": "object", "image.registry.url": "string", "image.name": "string",
		"image.tag":       "object",
		"image.tag.value": "string", "image.tag.semver": "boolean", "image.digest": "object", "image.digest.watch": "boolean",
		"image.digest.repo": "string", "image.architecture": "string", "image.os": "string", "image.created": "string",
	}
	contractComponent = fieldsTable{"id": "string", "type": "string", "name": "string", "configuration": "object"}
	contractMail      = fieldsTable{
		"host": "string", "port": "integer", "user": "string", "pass": "string", "from": "string", "to": "string",
	}
	contractPush = fieldsTable{
		"topic": "string", "url": "string", "threshold": "string", "mode": "string", "once": "boolean",
		"simpletitle": "string",
		"simplebody":  "string", "batchtitle": "string",
	}
	contractECR     = fieldsTable{"region": "string", "accesskeyid": "string", "secretaccesskey": "string"}
	contractHub     = fieldsTable{"auth": "string"}
	contractWatcher = fieldsTable{"socket": "string", "port": "integer", "cron": "string", "watchbydefault": "boolean"}
)

// at returns the value at a path of a JSON document.
func at(doc map[string]any, path string) any {
	head, rest, more := strings.Cut(path, ".")
	if !more {
		return doc[head]
	}
	sub, _ := doc[head].(map[string]any)
	return at(sub, rest)
}

func (table fieldsTable) check(t *testing.T, what string, doc map[string]any) {
	t.Helper()
	for path, want := range table {
		got := "absent"
		switch v := at(doc, path).(type) {
		case string:
			got = "string"
		case bool:
			got = "boolean"
		case map[string]any:
			got = "object"
		case float64:
			got = "number"
			if v == float64(int64(v)) {
				got = "integer"
			}
		}
		if got != want {
			t.Errorf("%s: %s is %s, want %s", what, path, got, want)
		}
	}
}

func TestContractContainer(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	for what, doc := range map[string]map[string]any{
		"list":      w.get("/api/containers").want(200).list()[0],
		"watch all": w.do("POST", "/api/containers/watch", "").want(200).list()[0],
		"one":       w.get("/api/containers/" + nginx().ID).want(200).object(),
		"watch one": w.do("POST", "/api/containers/"+nginx().ID+"/watch", "").want(200).object(),
	} {
		contractContainer.check(t, what, doc)
		for path, form := range map[string]string{
			"id": `^[0-9a-f]{64}$`, "image.id": `^sha256:.+`, "image.digest.repo": `^sha256:.+`,
			"image.created": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`,
			"result.link":   `^https://`, "image.registry.name": `^[a-z]+\.[a-z]+$`,
		} {
			if got := fmt.Sprint(at(doc, path)); !regexp.MustCompile(form).MatchString(got) {
				t.Errorf("%s: %s is %q, want %s", what, path, got, form)
			}
		}
	}
}

func TestContractComponents(t *testing.T) {
	w := start(t, nil)
	for _, test := range []struct {
		list, id      string
		configuration fieldsTable
	}{
		{"triggers", "smtp.gmail", contractMail},
		{"triggers", "ntfy.one", contractPush},
		{"registries", "ecr.private", contractECR},
		{"registries", "hub.private", contractHub},
		{"watchers", "docker.local", contractWatcher},
	} {
		typ, name, _ := strings.Cut(test.id, ".")
		one := w.get("/api/" + test.list + "/" + typ + "/" + name).want(200).object()
		contractComponent.check(t, test.id, one)
		test.configuration.check(t, test.id, one["configuration"].(map[string]any))
		same(t, "identity of "+test.id, []any{one["id"], one["type"], one["name"]}, []any{test.id, typ, name})
		var listed map[string]any
		for _, item := range w.get("/api/" + test.list).want(200).list() {
			if item["id"] == test.id {
				listed = item
			}
		}
		same(t, test.id+" in its list", listed, one)
	}
	same(t, "the order of triggers", w.get("/api/triggers").names(), []string{"x", "one", "optin", "gmail", "refused"})
}

// TestContractMasks: the first character and asterisks, but two secrets as they are stored.
func TestContractMasks(t *testing.T) {
	first := func(secret string) string { return secret[:1] + strings.Repeat("*", len(secret)-1) }
	p, err := allMasked()
	if err != nil {
		t.Fatal(err)
	}
	asStored, masked := start(t, nil), startWith(t, p, []string{"DOGWATCH_SERVER_MASKALL=true"})
	for _, test := range []struct{ component, option, stored, all string }{
		{"registries/ecr/private", "accesskeyid", first(accessKey), first(accessKey)},
		{"registries/ecr/private", "secretaccesskey", first(secretKey), first(secretKey)},
		{"registries/ecr/private", "region", "eu-west-1", "eu-west-1"},
		{"registries/hub/private", "auth", hubAuth, first(hubAuth)},
		{"registries/hub/login", "password", first(hubPass), first(hubPass)},
		{"triggers/smtp/gmail", "pass", smtpPass, first(smtpPass)},
		{"triggers/smtp/gmail", "from", "john@example.org", "john@example.org"},
		{"triggers/ntfy/one", "auth.token", first(ntfyToken), first(ntfyToken)},
		{"triggers/ntfy/one", "url", "https://john:***@ntfy.example.org", "https://john:***@ntfy.example.org"},
	} {
		for w, want := range map[*testServer]string{asStored: test.stored, masked: test.all} {
			got := at(w.get("/api/" + test.component).want(200).object()["configuration"].(map[string]any), test.option)
			same(t, test.component+" "+test.option, got, any(want))
		}
	}
}

// TestResponsesHoldNoOtherSecret requests every route and looks for every secret in the responses.
func TestResponsesHoldNoOtherSecret(t *testing.T) {
	w := start(t, nil)
	c := nginx()
	c.Error = &sdk.ContainerError{Message: "no"}
	w.put(c, redis())
	w.triggers.run = failing("login with " + smtpPass + " and " + ntfyToken + " refused")
	w.checks.watchOne = func(sdk.Container) error { return fmt.Errorf("denied for %s", hubPass) }
	w.checks.watchAll = func() error { return fmt.Errorf("denied for %s", hubPass) }
	for operation, r := range w.routes() {
		method, _, _ := strings.Cut(operation, " ")
		got := w.do(method, r.path, r.body)
		for _, secret := range []string{accessKey, secretKey, hubPass, ntfyToken, urlPass} {
			if strings.Contains(string(got.body), secret) {
				t.Errorf("%s shows %q", operation, secret)
			}
		}
		shown := strings.Contains(operation, "/api/triggers") && method == "GET" ||
			strings.HasSuffix(operation, "/{id}/triggers")
		if (strings.Contains(string(got.body), smtpPass) || strings.Contains(string(got.body), failedPass)) && !shown {
			t.Errorf("%s shows a password of smtp", operation)
		}
		if strings.Contains(string(got.body), hubAuth) && !strings.Contains(operation, "/api/registries") {
			t.Errorf("%s shows the credentials of hub", operation)
		}
	}
	for _, secret := range []string{accessKey, secretKey, hubAuth, hubPass, smtpPass, ntfyToken, urlPass, failedPass} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	warning := w.get("/api/triggers/smtp/gmail").object()["warnings"]
	same(t, "the warning", warning, any([]any{"the password *** is weak"}))
	same(t, "the error", w.get("/api/triggers/smtp/refused").object()["error"], any("login of refused with *** refused"))
}

func TestContractRunTriggerForContainer(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	path := "/api/containers/" + nginx().ID + "/triggers/ntfy/one"
	same(t, "the response", string(w.do("POST", path, "").want(200).body), "{}")
	got := w.triggers.last(t)
	if got.id != "ntfy.one" || len(got.containers) != 1 || got.containers[0].ID != nginx().ID ||
		got.containers[0].Result.Tag != "1.26.0" || got.test {
		t.Errorf("ran %+v", got)
	}
	// Neither the label nor an update matters to a manual run.
	w.put(redis())
	w.do("POST", "/api/containers/AbC%2F%C3%A9%201/triggers/ntfy/optin", "").want(200)

	w.do("POST", "/api/containers/none/triggers/ntfy/none", "").fails(404, "Container not found")
	w.do("POST", "/api/containers/"+nginx().ID+"/triggers/ntfy/none", "").fails(404, "Trigger not found")
	w.do("POST", "/api/containers/"+nginx().ID+"/triggers/acme/x", "").fails(500,
		"Error when running trigger (type=acme, name=x) (", "unknown trigger type")
	w.triggers.run = failing("the server answered 502")
	w.do("POST", path, "").fails(500, "Error when running trigger (type=ntfy, name=one) (the server answered 502)")
}

func TestContractRunTriggerWithSimulatedContainer(t *testing.T) {
	w := start(t, nil)
	const path = "/api/triggers/ntfy/one"
	body := `{"id":"123456789","name":"container_test","watcher":"watcher_test",
		"updateKind":{"kind":"tag","semverDiff":"patch","localValue":"1.2.3","remoteValue":"1.2.4","result":{"link":"https://example.org"}}}`
	same(t, "the response", string(w.do("POST", path, body, "Content-Type", "application/json").want(200).body), "{}")
	want := sdk.Container{ID: "123456789", Name: "container_test", Watcher: "watcher_test", UpdateKind: sdk.UpdateKind{
		Kind: "tag", SemverDiff: "patch", LocalValue: "1.2.3", RemoteValue: "1.2.4",
		Result: &sdk.Result{Link: "https://example.org"}}}
	same(t, "what ran", w.triggers.last(t).containers, []sdk.Container{want})
	if !w.triggers.last(t).test {
		t.Error("the run is not marked as a test")
	}
	// Beside a name whatever is there must do, and what curl calls a form is JSON too.
	for _, body := range []string{
		`{"name":"x"}`, `{"name":"x","image":null,"result":null,"unknown":{"deep":[1]}}`,
		" \n{\"name\":\"x\",\"updateKind\":{}}\n", `{"name":"x","image":{"name":"library/nginx"}}`,
	} {
		w.do("POST", path, body, "Content-Type", "application/x-www-form-urlencoded").want(200)
	}
	// What is no container is not sent as one "unknown".
	triggerRun := len(w.triggers.runs)
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":" "}`, `{"name":null}`, `{"status":"x"}`,
		`{"updateKind":{"kind":"tag"}}`, `{"id":"123456789","watcher":"watcher_test"}`} {
		got := w.do("POST", path, body).fails(400, "Error when running trigger ntfy.one", "name")
		same(t, "the field that is missing from "+body, decodeAs[problem](got).Errors,
			[]field{{Field: "name", Detail: "a container needs a name"}})
	}
	same(t, "triggers that ran without a container", len(w.triggers.runs)-triggerRun, 0)
	w.do("POST", "/api/triggers/ntfy/none", body).fails(404, "Error when running trigger ntfy.none (trigger not found)")
	for _, body := range []string{"", " ", "null"} {
		w.do("POST", path, body).fails(400, "Error when running trigger ntfy.one (container is undefined)")
	}
	w.triggers.run = failing("the server answered 502")
	w.do("POST", path, body).fails(500, "Error when running trigger ntfy.one (the server answered 502)")
	w.do("POST", "/api/triggers/acme/x", body).fails(500, "Error when running trigger acme.x (", "unknown trigger type")
}

func TestContractDelete(t *testing.T) {
	w := start(t, nil)
	w.put(nginx(), redis())
	if got := w.do("DELETE", "/api/containers/"+nginx().ID, "").want(204); len(got.body) > 0 {
		t.Errorf("body %q", got.body)
	}
	w.get("/api/containers/"+nginx().ID).fails(404, "Container not found")
	w.do("DELETE", "/api/containers/"+nginx().ID, "").fails(404, "Container not found")
	same(t, "what is left", w.get("/api/containers").names(), []string{"redis"})
	events := w.get("/api/events").list()
	if len(events) != 1 || events[0]["type"] != "container.removed" || events[0]["subject"] != "local/nginx" {
		t.Errorf("events: %v", events)
	}

	off := start(t, []string{"DOGWATCH_SERVER_FEATURE_DELETE=false"})
	off.put(nginx())
	off.do("DELETE", "/api/containers/"+nginx().ID, "").fails(http.StatusForbidden, "server.feature.delete")
	off.do("DELETE", "/api/containers/none", "").fails(http.StatusForbidden)
	same(t, "containers", off.get("/api/containers").names(), []string{"nginx"})
	same(t, "feature", at(off.get("/api/server").object(), "configuration.feature.delete"), any(false))
}

func TestContractContainerTriggers(t *testing.T) {
	w := start(t, nil)
	associated := func(include, exclude string) map[string]any {
		t.Helper()
		c := nginx()
		c.TriggerInclude, c.TriggerExclude = include, exclude
		w.put(c)
		found := map[string]any{}
		for _, item := range w.get("/api/containers/" + c.ID + "/triggers").want(200).list() {
			contractComponent.check(t, "trigger", item)
			found[item["id"].(string)] = item["configuration"].(map[string]any)["threshold"]
		}
		return found
	}
	for _, test := range []struct {
		include, exclude string
		want             map[string]any
	}{
		{"", "", map[string]any{"ntfy.one": "major", "smtp.gmail": "all", "smtp.refused": "all"}},
		{"ntfy.optin", "", map[string]any{"ntfy.optin": "all"}},
		{"ntfy.one:minor, SMTP.Gmail", "", map[string]any{"ntfy.one": "minor", "smtp.gmail": "all"}},
		{"", "ntfy.one", map[string]any{"smtp.gmail": "all", "smtp.refused": "all"}},
		{"smtp.gmail", "smtp.gmail", map[string]any{}},
		{"none.such", "", map[string]any{}},
	} {
		got := associated(test.include, test.exclude)
		for _, unusable := range []string{"acme.x"} {
			delete(got, unusable)
		}
		same(t, "include "+test.include+", exclude "+test.exclude, got, test.want)
	}
	// Asking changed nothing.
	same(t, "the threshold of the trigger", at(w.get("/api/triggers/ntfy/one").object(), "configuration.threshold"),
		any("major"))
	w.get("/api/containers/none/triggers").fails(404, "Container not found")
}

func TestContractWatch(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	// The response is what the check found.
	w.checks.watchAll = func() error { w.put(redis()); return nil }
	same(t, "after a check", w.do("POST", "/api/containers/watch", "").want(200).names(), []string{"nginx", "redis"})
	same(t, "selected", w.do("POST", "/api/containers/watch?updateAvailable=false", "").want(200).names(),
		[]string{"redis"})
	w.checks.watchOne = func(c sdk.Container) error {
		c.Result = &sdk.Result{Tag: "1.27.0"}
		w.put(c)
		return nil
	}
	same(t, "its result", at(w.do("POST", "/api/containers/"+nginx().ID+"/watch", "").want(200).object(), "result.tag"),
		any("1.27.0"))

	w.checks.watchAll = func() error { t.Error("a check ran for a request that makes no sense"); return nil }
	w.do("POST", "/api/containers/watch?nope=1", "").fails(400, "nope")
	w.do("POST", "/api/containers/none/watch", "").fails(404, "Container not found")
	w.checks.watchAll = func() error { return fmt.Errorf("dogwatch is stopping") }
	w.do("POST", "/api/containers/watch", "").fails(500, "Error when watching images (dogwatch is stopping)")
	w.checks.watchOne = func(sdk.Container) error { return fmt.Errorf("the engine does not answer") }
	w.do("POST", "/api/containers/"+nginx().ID+"/watch", "").fails(500,
		"Error when watching container "+nginx().ID+" (the engine does not answer)")
	w.checks.watchOne = func(c sdk.Container) error { return gone(w, c) }
	w.do("POST", "/api/containers/"+nginx().ID+"/watch", "").fails(404, "Container not found")
}

func TestSystemInformation(t *testing.T) {
	w := start(t, []string{"DOGWATCH_LOG_LEVEL=debug", "DOGWATCH_STORE_FILE=x.db"})
	same(t, "app", w.get("/api/app").object(), map[string]any{"name": "dogwatch", "version": "1.2.3"})
	same(t, "log", w.get("/api/log").object(), map[string]any{"level": "debug"})
	same(t, "changed", w.do("POST", "/api/log", `{"level":"info"}`).want(200).object(), map[string]any{"level": "info"})
	same(t, "log", w.get("/api/log").object(), map[string]any{"level": "info"})
	for _, body := range []string{"", "{}", `{"level":"loud"}`, `{"level":7}`} {
		w.do("POST", "/api/log", body).fails(400, "level")
	}
	w.do("PUT", "/api/log", `{"level":"info"}`).fails(405, "GET, HEAD, POST")
	same(t, "entries of a part that logs nothing", w.get("/api/log/entries?part=none&level=warn").list(), []map[string]any{})
	w.do("GET", "/api/log/entries?level=loud", "").fails(400, "level")
	w.do("GET", "/api/log/entries?limit=1001", "").fails(400, "limit")
	store := w.get("/api/store").object()["configuration"].(map[string]any)
	same(t, "store", store, map[string]any{"path": w.opt.Config.Store.Path, "file": "x.db"})
	same(t, "server", w.get("/api/server").object(), map[string]any{"configuration": map[string]any{
		"enabled": true, "port": 0, "tls": map[string]any{}, "cors": map[string]any{}, "basepath": "/",
		"feature": map[string]any{"delete": true}}})
	cors := start(t, []string{"DOGWATCH_SERVER_CORS_ENABLED=true"})
	same(t, "cors", at(cors.get("/api/server").object(), "configuration.cors"), any(map[string]any{
		"enabled": true, "origin": "*", "methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
	}))

	anonymous := map[string]any{
		"id": "anonymous.anonymous", "type": "anonymous", "name": "anonymous", "configuration": map[string]any{},
		"state": "ready",
	}
	same(t, "authentications", w.get("/api/authentications").list(), []map[string]any{anonymous})
	same(t, "authentication", w.get("/api/authentications/anonymous/anonymous").object(), anonymous)
	same(t, "strategies", w.get("/auth/strategies").list(), []map[string]any{{"type": "anonymous", "name": "Anonymous"}})
	same(t, "login", w.do("POST", "/auth/login", `{"username":"x"}`).want(200).object(), map[string]any{
		"username": "anonymous",
	})
	same(t, "logout", w.do("POST", "/auth/logout", "").want(200).object(), map[string]any{"logoutUrl": nil})
	if home := string(w.get("/").want(200).body); !strings.Contains(home, "Dogwatch 1.2.3") {
		t.Errorf("home: %s", home)
	}
}

func TestTypesListOptions(t *testing.T) {
	w := start(t, nil)
	hub := w.get("/api/types/registry").want(200).list()[1]
	same(t, "the type", []any{hub["kind"], hub["type"], hub["summary"], hub["docsUrl"]},
		[]any{"registry", "hub", "Docker Hub", "https://example.org/hub"})
	options := map[string]map[string]any{}
	for _, o := range w.get("/api/types/trigger").want(200).list()[1]["options"].([]any) {
		options[o.(map[string]any)["name"].(string)] = o.(map[string]any)
	}
	same(t, "an option of the type", options["port"], map[string]any{
		"name": "port", "type": "int", "help": "Port", "required": true, "secret": false, "min": 1, "max": 65535,
	})
	same(t, "an option of all triggers", options["mode"]["choices"], any([]any{"simple", "batch", "summary"}))
	if options["pass"]["secret"] != true || options["pass"]["default"] != nil {
		t.Errorf("pass: %v", options["pass"])
	}
	same(t, "watchers", len(w.get("/api/types/WATCHER").want(200).list()), 1)
}

func TestExplain(t *testing.T) {
	w := start(t, nil)
	w.put(nginx())
	got := w.get("/api/containers/" + nginx().ID + "/explain").want(200).object()
	same(t, "name", got["name"], any("nginx"))
	same(t, "verdicts", len(got["tags"].([]any)), 1)
	w.get("/api/containers/none/explain").fails(404, "Container not found")
}
