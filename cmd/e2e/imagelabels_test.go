package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// attack are the labels of an image that wants to be updated at once, with files, commands and addresses of
// its own, in the stack of others.
var attack = []string{
	"dogwatch.update=auto", "dogwatch.update.minage=0", "dogwatch.update.window=always",
	"dogwatch.update.acknowledge=data.writable-layer",
	"dogwatch.compose.file=data/sub/compose.yaml", "dogwatch.hook.pre=sh",
	"dogwatch.probe.http=http://169.254.169.254/", "dogwatch.trigger.include=http.end",
	"com.docker.compose.project=shop", "com.docker.compose.service=web", "com.docker.compose.config-hash=1",
	"com.docker.compose.container-number=1",
	"com.docker.compose.project.config_files=/etc/evil.yaml", "com.docker.compose.project.working_dir=/etc",
}

// TestImageSpeaksForNobodyElse: on a real engine, whose containers show the labels of their image as their own, the
// operator's rules count, and what the image wants beyond is said to be ignored.
func TestImageSpeaksForNobodyElse(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	p := newProduct(t, engine, registry+"/labels/app")
	var changes []string
	for _, l := range attack {
		name, value, _ := strings.Cut(l, "=")
		changes = append(changes, "LABEL "+name+`="`+value+`"`)
	}
	evil := engine.Image(t, p.repo+":1.0.1", append(changes, "LABEL dogwatch.display.name=Evil")...)
	engine.Push(t, p.repo+":1.0.1")
	d := install(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_DOCKER_LOCAL_HOOKS=true",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry, "DOGWATCH_POLICY_UPDATE=notify",
		"DOGWATCH_POLICY_MINAGE=30d").start()
	engine.Run(t, "unwatched", p.repo+":1.0.1", nil)
	engine.Run(t, "intruder", p.repo+":1.0.1", map[string]string{"dogwatch.watch": "true"})
	engine.Run(t, "shop-web-1", p.repo+":1.0.0", map[string]string{
		"dogwatch.watch": "true", "dogwatch.update": "auto", "dogwatch.update.minage": "0",
		"com.docker.compose.project": "shop",
	})
	if all := d.watch(); len(all) != 2 {
		t.Errorf("%d containers are watched, want 2", len(all))
	}
	s := &automatics{engine: engine, p: p, d: d}
	if op := d.ended(s.began(t, "shop-web-1", 0)); op.State != operation.Succeeded {
		t.Errorf("the operator's label has it updated: %s", says(op))
	}
	c := known(d, "intruder")
	if c.Decision == nil || c.Decision.State != sdk.StateHeld || c.Decision.Reasons[0].Source != "policy.minage" {
		t.Errorf("the decision is %s", show(c.Decision))
	}
	if c.Stack != "" || c.TriggerInclude != "" || c.DisplayName != "Evil" || slices.Contains(c.ImageLabels,
		"dogwatch.watch") || len(c.ImageLabels) != len(attack)+1 {
		t.Errorf("stack %q, triggers %q, name %q, labels of the image %q", c.Stack, c.TriggerInclude, c.DisplayName,
			c.ImageLabels)
	}
	if all := d.operations("intruder"); len(all) > 0 {
		t.Errorf("it is updated: %s", show(all))
	}
	only(t, engine, "intruder", evil)
	e := get[check.Explanation](d, http.MethodGet, "/api/containers/"+c.ID+"/explain")
	if !slices.Contains(e.Rules, labels.Rule{Name: "display.name", Value: "Evil",
		Source: "label dogwatch.display.name from the image"}) {
		t.Errorf("rules %v", e.Rules)
	}
	said := strings.Join(phrase.Strings(e.Warnings), "\n")
	for _, l := range attack {
		name, _, _ := strings.Cut(l, "=")
		if !strings.Contains(said, "label "+name+" from the image: ignored: ") {
			t.Errorf("%s is dropped without a word:\n%s", name, said)
		}
	}
	plan := d.plan("intruder")
	for _, name := range []string{"dogwatch.compose.file", "dogwatch.hook.pre", "dogwatch.probe.http",
		"dogwatch.update.acknowledge", "com.docker.compose.project"} {
		if !strings.Contains(show(plan.Warnings), "label "+name+" from the image: ignored: ") {
			t.Errorf("the plan drops %s without a word: %s", name, show(plan.Warnings))
		}
	}
	d.stop()
}
