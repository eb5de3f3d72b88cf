package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
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
