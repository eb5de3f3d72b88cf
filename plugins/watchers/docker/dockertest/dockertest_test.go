package dockertest

import (
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestDaemon(t *testing.T) {
	t.Run("docker", func(t *testing.T) { restarted(t, Start(t), false) })
	t.Run("podman", func(t *testing.T) { restarted(t, StartPodman(t), true) })
}

// restarted tests that data survives a restart of the engine; runs says whether containers do.
func restarted(t *testing.T, d *Daemon, runs bool) {
	t.Helper()
	id := d.Image(t, "app:1", "LABEL version=1")
	d.Run(t, "web", "app:1", map[string]string{"a": "b"})
	d.Restart(t)
	got, err := d.API.ContainerInspect(t.Context(), "web")
	check(t, err)
	if got.Image != id || got.State.Running != runs || got.Config.Labels["a"] != "b" ||
		got.Config.Labels["version"] != "1" {
		t.Errorf("%+v %+v", got.ContainerJSONBase, got.Config)
	}
}

// TestDaemonStartsAfterKill tests that an engine that was killed comes back with its containers.
func TestDaemonStartsAfterKill(t *testing.T) {
	d := Start(t)
	d.Image(t, "app:1")
	id := d.Create(t, "web", "app:1", nil)
	_, err := d.API.ContainerUpdate(t.Context(), id, container.UpdateConfig{
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyAlways},
	})
	check(t, err)
	check(t, d.API.ContainerStart(t.Context(), id, container.StartOptions{}))
	d.Kill(t)
	d.Start(t)
	got, err := d.API.ContainerInspect(t.Context(), id)
	check(t, err)
	if !got.State.Running {
		t.Errorf("it is %s", got.State.Status)
	}
}
