package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestUpdateOfComposeProject starts a project with Debian's compose, and updates it by
// either value of the watcher's option. The next "up" finds nothing to do.
func TestUpdateOfComposeProject(t *testing.T) {
	if _, err := exec.LookPath("docker-compose"); err != nil {
		plugintest.Skip(t, "docker-compose", err)
	}
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	for _, how := range []string{"edit", "command"} {
		t.Run(how, func(t *testing.T) {
			web := newProduct(t, engine, registry+"/team/"+how)
			dir := t.TempDir()
			file, env := filepath.Join(dir, "docker-compose.yml"), filepath.Join(dir, ".env")
			text := "version: '3.8'\nservices:\n  web:\n    image: " + web.repo +
				":${TAG}\n    network_mode: none\n    stop_grace_period: 1s\n    labels: {dogwatch.watch: 'true'}\n"
			must(t, os.WriteFile(file, []byte(text), 0o640))
			must(t, os.WriteFile(env, []byte("# the tag\nTAG=1.0.0\n"), 0o640))
			up := func() {
				cmd := exec.Command("docker-compose", "-p", how, "up", "-d")
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "DOCKER_HOST="+engine.Host)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			up()
			name := how + "_web_1"
			in := install(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
				"DOGWATCH_WATCHER_DOCKER_LOCAL_CRON=0 0 1 1 *",
				"DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_DOCKER_LOCAL_COMPOSE="+how,
				"DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHBYDEFAULT=false", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
			d := in.start()
			d.watch()
			op := d.ended(d.begin("update", name).ID)
			if op.State != operation.Succeeded {
				t.Errorf("%s", says(op))
			}
			t.Log(says(op))
			only(t, engine, name, web.new)
			if got, err := os.ReadFile(env); err != nil || string(got) != "# the tag\nTAG=1.1.0\n" {
				t.Errorf("the env file is %q, %v", got, err)
			}
			before, err := engine.API.ContainerInspect(t.Context(), name)
			must(t, err)
			up()
			if after, err := engine.API.ContainerInspect(t.Context(), name); err != nil || after.ID != before.ID {
				t.Errorf("the next up recreates it: %v", err)
			}
			d.stop()
		})
	}
}
