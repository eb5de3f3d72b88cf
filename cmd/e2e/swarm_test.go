package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// TestSwarmServiceIsUpdated: a service is found, told about once, updated by its swarm, and returned to the old image
// when the new one fails.
func TestSwarmServiceIsUpdated(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	engine.Swarm(t)
	p := newProduct(t, engine, registry+"/team/web")
	replicas, soon := uint64(2), 300*time.Millisecond
	created, err := engine.API.ServiceCreate(t.Context(), swarm.ServiceSpec{
		Annotations: swarm.Annotations{Name: "shop_web", Labels: map[string]string{"com.docker.stack.namespace": "shop"}},
		TaskTemplate: swarm.TaskSpec{
			ContainerSpec: &swarm.ContainerSpec{Image: p.repo + ":1.0.0"},
			Networks:      []swarm.NetworkAttachmentConfig{{Target: "host"}},
			RestartPolicy: &swarm.RestartPolicy{Delay: &soon},
		},
		Mode:         swarm.ServiceMode{Replicated: &swarm.ReplicatedService{Replicas: &replicas}},
		UpdateConfig: &swarm.UpdateConfig{Parallelism: 1, Monitor: 3 * time.Second},
	}, swarm.ServiceCreateOptions{QueryRegistry: true, EncodedRegistryAuth: "e30="})
	must(t, err)
	image := func() string {
		service, _, err := engine.API.ServiceInspectWithRaw(t.Context(), created.ID, swarm.ServiceInspectOptions{})
		must(t, err)
		name, _, _ := strings.Cut(service.Spec.TaskTemplate.ContainerSpec.Image, "@")
		return name
	}
	told, to := startSink(t)
	d := install(t, "DOGWATCH_WATCHER_SWARM_HOME_SOCKET="+engine.Host, "DOGWATCH_WATCHER_SWARM_HOME_UPDATE=true",
		"DOGWATCH_WATCHER_SWARM_HOME_CRON=0 0 1 1 *", "DOGWATCH_TRIGGER_HTTP_TOLD_URL="+to,
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry).start()
	d.watch()
	web := d.container("shop_web")
	if web.ID != created.ID || web.Stack != "shop" || !web.UpdateAvailable || web.Result.Tag != "1.1.0" {
		t.Fatalf("%+v", web)
	}
	if op := d.ended(d.begin("update", "shop_web").ID); op.State != operation.Succeeded || image() != p.repo+":1.1.0" {
		t.Errorf("%s, and the service has %s", says(op), image())
	}
	d.watch()
	if web := d.container("shop_web"); web.UpdateAvailable || web.Image.Tag.Value != "1.1.0" {
		t.Errorf("%+v", web)
	}
	p.push(t, "1.2.0", `CMD ["crash","NONE"]`)
	d.watch()
	op := d.ended(d.begin("update", "shop_web").ID)
	if op.State != operation.RolledBack || image() != p.repo+":1.1.0" || op.Outcome.Evidence == nil ||
		op.Outcome.Evidence.ExitCode != 3 {
		t.Errorf("%s, and the service has %s", says(op), image())
	}
	d.watch()
	if all := told.all(); len(all) != 2 || !strings.Contains(all[0], "1.1.0") || !strings.Contains(all[1], "1.2.0") {
		t.Errorf("told %d times: %q", len(all), all)
	}
}
