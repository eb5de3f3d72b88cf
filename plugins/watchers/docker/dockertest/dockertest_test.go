package dockertest

import "testing"

func TestDaemon(t *testing.T) {
	d := Start(t)
	id := d.Image(t, "app:1", "LABEL version=1")
	d.Run(t, "web", "app:1", map[string]string{"a": "b"})
	d.Restart(t)
	got, err := d.API.ContainerInspect(t.Context(), "web")
	check(t, err)
	if got.Image != id || got.State.Running || got.Config.Labels["a"] != "b" || got.Config.Labels["version"] != "1" {
		t.Errorf("%+v %+v", got.ContainerJSONBase, got.Config)
	}
}
