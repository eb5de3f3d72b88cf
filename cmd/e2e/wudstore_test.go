package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// inherited is a container that What's Up Docker watched, and what it knew of it.
type inherited struct {
	name, tag string
	// result is what it had found: a tag, or with digest the digest behind the same tag.
	result, digest string
	failed         string
	unknown        bool // it had not seen the container yet
	tags           []string
	notified       bool // WUD notified of what it had found
}

// run puts the container into the engine and what was known of it into a record of wud.json.
func (c inherited) run(t *testing.T, f *fleet, watcher string) (id string, record map[string]any) {
	t.Helper()
	repo := "team/" + c.name
	f.registry(0).Push(repo, c.tags...)
	image, _ := f.registry(0).Image(repo, c.tag)
	reference := f.hosts[0] + "/" + repo
	imageID := f.engine.AddImage(enginesim.Image{
		Tags: []string{reference + ":" + c.tag}, Digests: []string{reference + "@" + image.Digest},
		Created: image.Platforms[0].Created,
	})
	id, err := f.engine.Create(enginesim.Container{Name: c.name, Image: reference + ":" + c.tag})
	must(t, err)
	if c.result == c.tag { // the same tag has a new image by now
		f.registry(0).Push(repo, c.tag)
		if c.digest == "now" {
			now, _ := f.registry(0).Image(repo, c.tag)
			c.digest = now.Platforms[0].Digest
		}
	}
	digest := map[string]any{"watch": c.result == c.tag, "repo": image.Digest}
	data := map[string]any{
		"id": id, "name": c.name, "status": "running", "watcher": watcher, "displayName": c.name,
		"displayIcon": "mdi:docker", "labels": map[string]any{},
		"image": map[string]any{"id": imageID, "registry": map[string]any{
			"name": "custom.sim0", "url": "http://" + f.hosts[0] + "/v2",
		}, "name": repo,
			"tag": map[string]any{"value": c.tag, "semver": c.tag != "latest"}, "digest": digest,
			"architecture": "amd64", "os": "linux", "created": "2026-01-01T00:00:00.000Z"},
		"updateAvailable": c.failed == "" && (c.result != c.tag || c.digest != ""),
	}
	switch {
	case c.failed != "":
		data["error"] = map[string]any{"message": c.failed}
	case c.digest != "":
		digest["value"] = image.Platforms[0].Digest
		data["result"] = map[string]any{"tag": c.tag, "digest": c.digest}
		data["updateKind"] = map[string]any{
			"kind": "digest", "localValue": image.Platforms[0].Digest, "remoteValue": c.digest,
		}
	default:
		data["result"] = map[string]any{"tag": c.result}
		data["updateKind"] = map[string]any{
			"kind": "tag", "localValue": c.tag, "remoteValue": c.result, "semverDiff": "minor",
		}
	}
	return id, map[string]any{"data": data, "meta": map[string]any{"revision": 0}, "$loki": 1}
}

// wudFile is what What's Up Docker writes.
func wudFile(t *testing.T, records []map[string]any) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"filename": "/store/wud.json", "databaseVersion": 1.5, "engineVersion": 1.5, "autosave": true,
		"persistenceMethod": "fs",
		"collections": []any{
			map[string]any{"name": "app", "data": []any{map[string]any{"name": "wud", "version": "8.3.1", "$loki": 1}}},
			map[string]any{
				"name": "containers", "data": records,
				"binaryIndices": map[string]any{"data.watcher": map[string]any{"values": []int{0}}},
			},
			map[string]any{
				"name": "Sessions", "data": []any{map[string]any{"sid": "x", "content": map[string]any{"cookie": nil}}},
			},
		},
	})
	must(t, err)
	return body
}

// TestSwitchFromWUD starts on the store folder of What's Up Docker, with its
// variables: its containers are there at once under their ids, what it notified
// of is not notified again by any trigger, and everything else is.
func TestSwitchFromWUD(t *testing.T) {
	t.Parallel()
	for _, watcher := range []string{"local", "server"} { // renamed at the switch, too
		t.Run(watcher, func(t *testing.T) { switchFromWUD(t, watcher) })
	}
}

func switchFromWUD(t *testing.T, watcher string) {
	f := newFleet(t, 0, registrysim.Options{Auth: registrysim.Token})
	var records []map[string]any
	ids := map[string]string{}
	var pending []string
	for _, c := range []inherited{
		{name: "web", tag: "1.0.0", tags: []string{"1.0.0", "1.1.0"}, result: "1.1.0", notified: true},
		{name: "api", tag: "1.0.0", tags: []string{"1.0.0", "1.1.0", "1.2.0"}, result: "1.1.0"},
		{name: "db", tag: "16", tags: []string{"16"}, result: "16", notified: true},
		{name: "cache", tag: "latest", tags: []string{"latest"}, result: "latest", digest: "now", notified: true},
		{
			name: "queue", tag: "latest", tags: []string{"latest"}, result: "latest",
			digest: enginesim.Digest("an earlier image"),
		},
		{name: "shaky", tag: "1.0.0", tags: []string{"1.0.0", "1.1.0"}, failed: "Request failed with status code 502"},
		{name: "new", tag: "1.0.0", tags: []string{"1.0.0", "1.1.0"}, unknown: true},
	} {
		id, record := c.run(t, f, watcher)
		if !c.unknown {
			ids[c.name] = id
			records = append(records, record)
		}
		if !c.notified {
			pending = append(pending, c.name)
		}
	}
	gone := inherited{name: "gone", tag: "1.0.0", tags: []string{"1.0.0", "1.1.0"}, result: "1.1.0", notified: true}
	id, record := gone.run(t, f, watcher)
	ids["gone"] = id
	records = append(records, record)
	must(t, f.engine.Remove("gone"))
	slices.Sort(pending)

	hook, hookURL := startSink(t)
	batch, batchURL := startSink(t)
	in := install(t, "WUD_WATCHER_LOCAL_SOCKET="+f.socket, "WUD_WATCHER_LOCAL_CRON=0 0 1 1 *",
		"WUD_WATCHER_LOCAL_WATCHATSTART=false",
		"WUD_REGISTRY_CUSTOM_SIM0_URL=http://"+f.hosts[0], "WUD_TRIGGER_HTTP_HOOK_URL="+hookURL,
		"WUD_TRIGGER_HTTP_BATCH_URL="+batchURL, "WUD_TRIGGER_HTTP_BATCH_MODE=batch")
	path, body := filepath.Join(in.store, "wud.json"), wudFile(t, records)
	must(t, os.WriteFile(path, body, 0o644))
	d := in.start()

	// Before any check.
	listed := d.containers()
	if len(listed) != len(ids) {
		t.Fatalf("at first: %s", show(listed))
	}
	for _, c := range listed {
		if c.ID != ids[c.Name] || c.Watcher != "local" {
			t.Errorf("%s is %s of watcher %s", c.Name, c.ID, c.Watcher)
		}
	}
	if web := named(t, listed, "web"); !web.UpdateAvailable || web.Result.Tag != "1.1.0" ||
		web.UpdateKind.SemverDiff != "minor" {
		t.Errorf("web: %s", show(web))
	}
	// In mid-life as well as at the first check: killed, started, checked again.
	must(t, d.cmd.Process.Kill())
	<-d.done
	for range 2 {
		d = in.start()
		get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
		d.settled()
		d.stop()
	}
	d = in.start()
	eventually(t, "everything new is sent", func() bool { return len(hook.all()) >= len(pending) && len(batch.all()) > 0 })
	var sent []string
	for _, body := range hook.all() {
		var c sdk.Container
		must(t, json.Unmarshal([]byte(body), &c))
		sent = append(sent, c.Name)
	}
	slices.Sort(sent)
	if !slices.Equal(sent, pending) {
		t.Errorf("sent %v, want %v", sent, pending)
	}
	var batched []sdk.Container
	if bodies := batch.all(); len(bodies) != 1 {
		t.Errorf("batches: %v", bodies)
	} else {
		must(t, json.Unmarshal([]byte(bodies[0]), &batched))
	}
	if len(batched) != len(pending) {
		t.Errorf("the batch is %s", show(batched))
	}
	for _, c := range d.containers() {
		if id, known := ids[c.Name]; known && c.ID != id || c.Name == "gone" ||
			c.UpdateAvailable == (c.Name == "db") && c.Name != "db" || c.Check.State != sdk.CheckOK {
			t.Errorf("%s", show(c))
		}
	}
	for _, e := range get[[]event.Event](d, http.MethodGet, "/api/events?limit=200") {
		if e.Type == event.UpdateFound && !slices.Contains(pending, strings.TrimPrefix(e.Subject, "local/")) {
			t.Errorf("%s of %s", e.Type, e.Subject)
		}
	}

	// What follows is notified.
	f.registry(0).Push("team/web", "1.3.0")
	f.registry(0).Push("team/cache", "latest")
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	eventually(t, "the next updates are sent", func() bool { return len(hook.all()) >= len(pending)+2 })
	d.settled()
	if got := len(hook.all()); got != len(pending)+2 {
		t.Errorf("notified %d times, want %d", got, len(pending)+2)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, body) {
		t.Errorf("wud.json was changed (%v)", err)
	}
}

// TestSwitchFromWUDWithDamagedStore: a file that cannot be used is reported in one message, and nothing else suffers.
func TestSwitchFromWUDWithDamagedStore(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, registrysim.Options{})
	f.registry(0).Push(f.repo(0), "1.1.0")
	hook, hookURL := startSink(t)
	in := install(t, append(f.env(), "WUD_TRIGGER_HTTP_HOOK_URL="+hookURL)...)
	path, body := filepath.Join(in.store, "wud.json"),
		[]byte(`{"collections":[{"name":"containers","data":[{"data":{"id":"c1","na`)
	must(t, os.WriteFile(path, body, 0o644))
	d := in.start()
	d.check()
	eventually(t, "the update is told", func() bool { return len(hook.all()) > 0 })
	d.settled()
	if len(hook.all()) != 1 {
		t.Errorf("notified: %v", hook.all())
	}
	d.stop()
	d.mu.Lock()
	log := d.log.String()
	d.mu.Unlock()
	if strings.Count(log, "What's Up Docker") != 1 || !strings.Contains(log, "ends too early") ||
		!strings.Contains(log, path) {
		t.Errorf("log: %s", tail(log, 30))
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, body) {
		t.Errorf("wud.json was changed (%v)", err)
	}
}
