package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt/mqtttest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestSwitchOfAStack switches a whole stack by the image line of its compose file.
func TestSwitchOfAStack(t *testing.T) {
	t.Parallel()
	s := newHousehold(t)
	hook, hookURL := startSink(t)
	batch, batchURL := startSink(t)
	local, err := s.engines["local"].Listen(shortDir(t))
	must(t, err)
	t.Cleanup(func() { local.Close() })
	nas, err := s.engines["nas"].Listen("")
	must(t, err)
	t.Cleanup(func() { nas.Close() })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(nas.Address, "tcp://"))
	must(t, err)
	variables := map[string]string{
		"SOCKET": strings.TrimPrefix(local.Address, "unix://"), "NAS_PORT": port, "HOOK": hookURL, "BATCH": batchURL,
		"BROKER": "",
	}
	var o *mqtttest.Observer
	if hasMosquitto() {
		broker := mqtttest.Start(t, "")
		variables["BROKER"] = broker.URL()
		o = mqtttest.Observe(t, broker.URL())
	}

	before, err := os.ReadFile(filepath.Join("testdata", "switch", "compose.yml"))
	must(t, err)
	after := strings.Replace(string(before), "image: getwud/wud:8.3.1", "image: dogwatch/dogwatch", 1)
	mine := compose(t, after, variables)
	other, err := os.ReadFile(filepath.Join("testdata", "switch", "nas.yml"))
	must(t, err)
	elsewhere := compose(t, string(other), variables)
	for _, f := range formers() {
		if service, here := mine.Services[f.name]; here {
			s.run(t, f, "local", service.Image, service.Labels)
		} else {
			s.run(t, f, "nas", elsewhere.Services[f.name].Image, elsewhere.Services[f.name].Labels)
		}
	}
	if n := len(mine.Services) - 1 + len(elsewhere.Services); n != 10 || n != len(s.ids) ||
		mine.Services["wud"].Image != "dogwatch/dogwatch" {
		t.Fatalf("%d containers and %s", n, mine.Services["wud"].Image)
	}

	// the way to the internet of this test
	env := []string{"HTTPS_PROXY=http://" + s.net.proxy, "SSL_CERT_FILE=" + s.net.file}
	for key, value := range mine.Services["wud"].Environment {
		if o != nil || !strings.Contains(key, "_MQTT_") {
			env = append(env, key+"="+value)
		}
	}
	in := install(t, env...)
	var records []map[string]any
	for _, name := range sorted(s.records) {
		records = append(records, map[string]any{
			"data": s.records[name], "meta": map[string]any{"revision": 0}, "$loki": len(records) + 1,
		})
	}
	must(t, os.WriteFile(filepath.Join(in.store, "wud.json"), wudFile(t, records), 0o644))
	d := in.start()
	d.loaded()

	listed := get[[]map[string]any](d, http.MethodGet, "/api/containers")
	if len(listed) != len(s.records) {
		t.Errorf("%d containers at first, want %d", len(listed), len(s.records))
	}
	same(t, "at first", s.compare(listed), []string{})

	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	same(t, "after a check", s.compare(get[[]map[string]any](d, http.MethodGet, "/api/containers")), sorted(differences))
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "migrate", "wud.md"))
	must(t, err)
	for difference, row := range differences {
		if !strings.Contains(string(page), "\n| "+row+" |") {
			t.Errorf("docs/migrate/wud.md has no row %q, which tells of %q", row, difference)
		}
	}

	// What WUD notified of is not notified again; what is new is.
	pending := []string{"db 17-alpine", "queue 3.12.0", "sonarr 4.1.0"}
	awaitNotified(t, "hook", hook, pending)
	awaitNotified(t, "batch", batch, pending)
	if o != nil {
		s.topics(o)
	}
	s.routes(t, d) // which runs the hook for web, and for a container that was made up

	s.hub.Push("library/nginx", "1.29.0")
	s.lan.Push("team/api", "3.0.0") // no minor difference, so not for the hook
	s.lan.Push("team/worker", "1.1.0")
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	awaitNotified(t, "hook", hook, append([]string{"made-up ", "web 1.27.0", "web 1.29.0"}, pending...))
	awaitNotified(t, "batch", batch, append([]string{"web 1.29.0", "worker 1.1.0"}, pending...))
	if o != nil {
		o.UntilHas("wud/container/local/web", `"result_tag":"1.29.0"`)
	}
	want := map[string][]string{"auth.docker.io": {"ana:s3cret-hub"}, "registry.example.com:5000": {"ana:s3cret-lan"}}
	same(t, "the logins that hosts were shown", s.net.logins(), want)
	all := len(sentTo(t, hook)) + len(sentTo(t, batch))
	d.stop()
	if now := len(sentTo(t, hook)) + len(sentTo(t, batch)); now != all {
		t.Errorf("notified %d times, %d of them at the end", now, now-all)
	}
	if strings.Contains(d.said(), marker) {
		t.Error("the log has a secret")
	}
}

// sentTo returns the containers that were sent somewhere, with their new tags.
func sentTo(t *testing.T, box *inbox) []string {
	t.Helper()
	all := []string{}
	for _, text := range box.all() {
		var containers []sdk.Container
		if !strings.HasPrefix(text, "[") {
			text = "[" + text + "]"
		}
		must(t, json.Unmarshal([]byte(text), &containers))
		for _, c := range containers {
			if c.Result == nil {
				c.Result = &sdk.Result{}
			}
			all = append(all, c.Name+" "+c.Result.Tag)
		}
	}
	slices.Sort(all)
	return all
}

// awaitNotified waits until a trigger has sent some containers, and no others.
func awaitNotified(t *testing.T, who string, box *inbox, want []string) {
	t.Helper()
	slices.Sort(want)
	eventually(t, fmt.Sprintf("the %s sends %q", who, want), func() bool { return len(sentTo(t, box)) >= len(want) })
	same(t, "sent to the "+who, sentTo(t, box), want)
}

// compare returns how responses differ from those of What's Up Docker. What it
// had no field for is left out.
func (s *household) compare(listed []map[string]any) []string {
	found := []string{}
	for _, got := range listed {
		name := fmt.Sprint(got["name"])
		record, known := s.records[name]
		if !known {
			found = append(found, name+": none → listed")
			continue
		}
		was, is := map[string]any{}, map[string]any{}
		flatten("", record, was)
		flatten("", got, is)
		for _, path := range sorted(was) {
			if _, both := is[path]; !both {
				is[path] = "none"
			}
		}
		for _, path := range sorted(is) {
			if path == "created" || path == "image.registry.host" || path == "imageLabels" || path == "stack" ||
				slices.ContainsFunc([]string{"check.", "decision.", "result.levels."}, func(ours string) bool {
					return strings.HasPrefix(path, ours)
				}) {
				continue
			}
			before, known := was[path]
			if !known {
				before = "none"
			}
			if now := is[path]; fmt.Sprint(before) != fmt.Sprint(now) {
				found = append(found, fmt.Sprintf("%s %s: %s → %s", name, path, s.word(name, before), s.word(name, now)))
			}
		}
	}
	slices.Sort(found)
	return found
}

// word returns a value, or what it is when it differs from day to day.
func (s *household) word(name string, value any) string {
	text := fmt.Sprint(value)
	if known := s.digests[name+text]; known != "" {
		return known
	}
	return text
}

// flatten adds the values of a document by their paths. Null counts as missing.
func flatten(path string, v any, into map[string]any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for key, value := range v {
			flatten(strings.TrimPrefix(path+"."+key, "."), value, into)
		}
	case map[string]string:
		for key, value := range v {
			flatten(path+"."+key, value, into)
		}
	default:
		into[path] = v
	}
}

// topics: the broker has every container and every count where it had them.
func (s *household) topics(o *mqtttest.Observer) {
	for name, tag := range map[string]string{
		"web": "1.27.0", "db": "17-alpine", "app": "v1.3.0", "api": "2.1.0", "worker": "1.0.0", "sonarr": "4.1.0",
	} {
		o.UntilHas("wud/container/local/"+name, `"result_tag":"`+tag+`"`)
		o.UntilHas("homeassistant/update/wud_container_local_"+name+"/config", `"state_topic":"wud/container/local/`+name+`"`)
	}
	o.UntilHas("wud/container/local/cache", `"update_kind_kind":"digest"`)
	o.UntilHas("wud/container/nas/plex", `"result_tag":"1.41.0"`)
	for topic, payload := range map[string]string{
		"total_count": "9", "update_count": "8", "update_status": "true", "status": "online", "local/total_count": "8",
		"local/update_count": "7", "local/update_status": "true", "local/running": "false", "nas/total_count": "1",
	} {
		o.UntilHolds("wud/container/"+topic, payload)
	}
}

// routes: every route answers with the status and the keys that it had.
func (s *household) routes(t *testing.T, d *daemon) {
	t.Helper()
	web := "/api/containers/" + s.ids["web"]
	posted := `{"id":"1","name":"made-up","watcher":"local","updateKind":{"kind":"tag","semverDiff":"patch","localValue":"1.2.3","remoteValue":"1.2.4","result":{"link":"https://example.com"}}}`
	for _, route := range []struct {
		method, path, body string
		status             int
		keys               string // of the object, or of its first item
	}{
		{"GET", "/health", "", 200, "uptime"},
		{"GET", "/api/app", "", 200, "name version"},
		{"GET", "/api/log", "", 200, "level"},
		{"GET", "/api/store", "", 200, "configuration"},
		{"GET", "/api/server", "", 200, "configuration"},
		{"GET", "/api/watchers", "", 200, "configuration id name type"},
		{"GET", "/api/watchers/docker/local", "", 200, "configuration id name type"},
		{"GET", "/api/watchers/docker/none", "", 404, "error"},
		{"GET", "/api/registries", "", 200, "configuration id name type"},
		{"GET", "/api/registries/custom/lan", "", 200, "configuration id name type"},
		{"GET", "/api/registries/hub/public", "", 200, "configuration id name type"},
		{"GET", "/api/triggers", "", 200, "configuration id name type"},
		{"GET", "/api/triggers/http/hook", "", 200, "configuration id name type"},
		{"GET", "/api/triggers/http", "", 404, "error"},
		{"GET", "/api/authentications", "", 200, "configuration id name type"},
		{"GET", "/auth/strategies", "", 200, "name type"},
		{"GET", "/auth/user", "", 200, "username"},
		{"POST", "/auth/login", "", 200, "username"},
		{"POST", "/auth/logout", "", 200, "logoutUrl"},
		{"GET", "/metrics", "", 200, ""},
		{"GET", "/api/containers?watcher=nas", "", 200, "id image name updateAvailable updateKind watcher"},
		{"GET", web, "", 200,
			"displayIcon displayName id image includeTags labels link linkTemplate name result status updateAvailable updateKind watcher"},
		{"GET", web + "/triggers", "", 200, "configuration id name type"},
		{"POST", web + "/watch", "", 200, "id image name result updateAvailable updateKind watcher"},
		{"GET", "/api/containers/none", "", 404, "error"},
		{"POST", "/api/containers/none/watch", "", 404, "error"},
		{"POST", web + "/triggers/http/none", "", 404, "error"},
		{"POST", web + "/triggers/http/hook", "", 200, "-"},
		{"POST", "/api/triggers/http/hook", posted, 200, "-"},
		{"POST", "/api/triggers/http/none", posted, 404, "error"},
		{"DELETE", "/api/containers/" + s.ids["app"], "", 204, ""},
		{"DELETE", "/api/containers/" + s.ids["app"], "", 404, "error"},
	} {
		status, body := d.request(route.method, route.path, route.body)
		if status != route.status {
			t.Errorf("%s %s: %d %s, want %d", route.method, route.path, status, body, route.status)
			continue
		}
		if route.keys == "" {
			continue
		}
		if route.keys == "-" {
			if string(body) != "{}" {
				t.Errorf("%s %s: %s", route.method, route.path, body)
			}
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			var list []map[string]any
			if err := json.Unmarshal(body, &list); err != nil || len(list) == 0 {
				t.Errorf("%s %s: %s", route.method, route.path, body)
				continue
			}
			object = list[0]
		}
		for _, key := range strings.Fields(route.keys) {
			if _, has := object[key]; !has {
				t.Errorf("%s %s has no %s: %s", route.method, route.path, key, body)
			}
		}
	}
}
