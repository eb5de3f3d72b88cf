package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestImageSaysNothingOfUpdates: an image has labels by which it would be updated at once and have a
// compose file of another stack written. Its container is run plainly, beside one of the operator's
// that is updated: it is not, until a user says so, and then no file changes and no stack is joined.
func TestImageSaysNothingOfUpdates(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	file := filepath.Join(t.TempDir(), "compose.yaml")
	evil := &product{engine: engine, repo: registry + "/evil/web"}
	text := "services:\n  web:\n    image: " + evil.repo + ":1.0.0\n"
	must(t, os.WriteFile(file, []byte(text), 0o600))
	var changes []string
	for name, value := range map[string]string{
		"dogwatch.update": "auto", "dogwatch.update.minage": "0", "dogwatch.compose.file": file,
		"dogwatch.hook.pre": "/missing", "dogwatch.probe.http": "http://192.0.2.1/",
		"com.docker.compose.project": "house", "com.docker.compose.service": "web",
		"com.docker.compose.config-hash": "1", "com.docker.compose.container-number": "1",
		"com.docker.compose.project.config_files": file,
	} {
		changes = append(changes, `LABEL "`+name+`"="`+value+`"`)
	}
	evil.old = engine.Image(t, evil.repo+":1.0.0", changes...)
	engine.Push(t, evil.repo+":1.0.0")
	evil.push(t, "1.1.0", changes...)
	good := newProduct(t, engine, registry+"/team/web")
	engine.Run(t, "evil", evil.repo+":1.0.0", map[string]string{"dogwatch.watch": "true"})
	engine.Run(t, "good", good.repo+":1.0.0", map[string]string{
		"dogwatch.watch": "true", "dogwatch.update": "auto", "dogwatch.update.minage": "0",
	})
	in := install(t,
		"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *", "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_DOCKER_LOCAL_COMPOSE=edit",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_HOOKS=true", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
	d := in.start()
	d.watch()
	s := &automatics{d: d}
	if op := d.ended(s.began(t, "good", 0)); op.State != operation.Succeeded {
		t.Errorf("the container of the operator: %s", says(op))
	}
	if all := d.operations("evil"); len(all) > 0 {
		t.Errorf("the image had itself updated: %s", show(all))
	}
	if c := known(d, "evil"); c.Stack != "" {
		t.Errorf("the image is in the stack %s", c.Stack)
	}
	if op := d.ended(d.begin("update", "evil").ID); op.State != operation.Succeeded {
		t.Errorf("by hand: %s", says(op))
	}
	only(t, engine, "evil", evil.new)
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("the compose file is\n%s%v", got, err)
	}
	d.stop()
}

// TestMovedTagHasNoAge: a publisher moves the tag of a version to another image when its age has almost passed. What
// a rule carries out is the image that has the age; the other one waits for its own.
func TestMovedTagHasNoAge(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	p := &product{engine: engine, repo: registry + "/team/web"}
	p.old = engine.Image(t, p.repo+":1.0.0")
	engine.Push(t, p.repo+":1.0.0")
	engine.Run(t, "web", p.repo+":1.0.0", map[string]string{"dogwatch.watch": "true"})
	in := install(t,
		"DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *", "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHATSTART=false", "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
	d := in.start()
	d.watch()
	p.push(t, "1.1.0")
	d.watch()
	d.stop()
	in.daysLater(t, p.repo, 30)
	in.env = append(in.env, "DOGWATCH_POLICY_UPDATE=auto", "DOGWATCH_POLICY_MINAGE=7d")
	d = in.start()
	const unread = "1.1.0 must be 7 days old, and its age is not known until the next check"
	eventually(t, unread, func() bool {
		c := known(d, "web").Decision
		return c != nil && c.State == sdk.StateHeld && c.Reasons[0].Text == unread
	})
	d.watch()
	s := &automatics{engine: engine, p: p, d: d}
	if op := d.ended(s.began(t, "web", 0)); op.State != operation.Succeeded {
		t.Fatalf("what did not move since it was found: %s", says(op))
	}
	publish := func(version, build string) (image string) {
		t.Helper()
		p.push(t, version, "LABEL build="+build)
		d.watch()
		if c := known(d, "web"); c.Decision == nil || c.Decision.State != sdk.StateHeld || c.Result.Tag != version {
			t.Fatalf("%s of %s is %s", build, version, show(c.Decision))
		}
		return p.new
	}
	updated := func(operations int, image string) {
		t.Helper()
		d.stop()
		in.daysLater(t, p.repo, 7)
		d = in.start()
		s.d = d
		if op := d.ended(s.began(t, "web", operations)); op.State != operation.Succeeded {
			t.Fatalf("the update: %s", says(op))
		}
		if d.logged("an automatic update cannot begin") {
			t.Error("it was to begin before there was a registry")
		}
		only(t, engine, "web", image)
	}
	first := publish("1.2.0", "first")
	p.push(t, "1.2.0", "LABEL build=second") // after the last check
	updated(1, first)
	publish("1.3.0", "third")
	d.stop()
	in.daysLater(t, p.repo, 6)
	d = in.start()
	fourth := publish("1.3.0", "fourth")
	text := known(d, "web").Decision.Reasons[0].Text
	if !strings.Contains(text, "1.3.0 was moved to another image") {
		t.Errorf("a version that was moved is held since %s", text)
	}
	updated(2, fourth)
	d.stop()
}

// daysLater has what is stored of candidates, and of the tags of a repository, be some days older. Dogwatch must not
// run.
func (i *installation) daysLater(t *testing.T, repository string, days int) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(i.store, "dogwatch.db"), store.Options{})
	must(t, err)
	defer s.Close()
	entry, cached, err := s.CacheGet(t.Context(), "tag kinds "+repository)
	must(t, err)
	if !cached {
		t.Fatalf("nothing is known of the tags of %s", repository)
	}
	var tags map[string]map[string]any
	must(t, json.Unmarshal(entry.Body, &tags))
	for _, tag := range tags {
		since, err := time.Parse(time.RFC3339, tag["since"].(string))
		must(t, err)
		tag["since"] = since.AddDate(0, 0, -days)
	}
	entry.Body, err = json.Marshal(tags)
	must(t, err)
	must(t, s.CachePut(t.Context(), entry))
	found, err := s.Candidates(t.Context())
	must(t, err)
	change := event.Change{Candidates: map[string][]byte{}}
	for subject, f := range found {
		for n := range f.Candidates {
			f.Candidates[n].FirstSeen = f.Candidates[n].FirstSeen.AddDate(0, 0, -days)
		}
		change.Candidates[subject], err = f.Encode()
		must(t, err)
	}
	must(t, s.Commit(t.Context(), change))
}
