package docker

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// BenchmarkDowntime compares how long a container does not run during an update with
// what the engine itself takes to stop it and start it again. Both are measured by
// the engine's clock.
func BenchmarkDowntime(b *testing.B) {
	engine := dockertest.Start(b)
	old, latest := engine.Image(b, "app:1"), engine.Image(b, "app:2", "LABEL version=2")
	d := watch(b, Options{Connection: Connection{Socket: engine.Host}, Update: true})
	host := &container.HostConfig{NetworkMode: "none"}
	create := func() string {
		made, err := engine.API.ContainerCreate(b.Context(), &container.Config{Image: old}, host, nil, nil, "web")
		check(b, err)
		check(b, engine.API.ContainerStart(b.Context(), made.ID, container.StartOptions{}))
		return made.ID
	}
	remove := func() { check(b, engine.API.ContainerRemove(b.Context(), "web", container.RemoveOptions{Force: true})) }
	var bare, update time.Duration
	for b.Loop() {
		id := create()
		check(b, engine.API.ContainerStop(b.Context(), id, container.StopOptions{}))
		check(b, engine.API.ContainerStart(b.Context(), id, container.StartOptions{}))
		started, err := engine.API.ContainerInspect(b.Context(), id)
		check(b, err)
		from, err := time.Parse(time.RFC3339Nano, started.State.FinishedAt)
		check(b, err)
		to, err := time.Parse(time.RFC3339Nano, started.State.StartedAt)
		check(b, err)
		bare += to.Sub(from)

		req := watcher.UpdateRequest{
			ContainerID: id, Image: watcher.TargetImage{Reference: "docker.io/library/app:2", ID: latest},
		}
		plan, err := d.Plan(b.Context(), req)
		check(b, err)
		out, err := d.Apply(b.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
		check(b, err)
		if out.State != watcher.Updated || out.Downtime <= 0 {
			b.Fatalf("%+v", out)
		}
		update += out.Downtime
		remove()
	}
	b.ReportMetric(float64(bare.Milliseconds())/float64(b.N), "bare-ms/op")
	b.ReportMetric(float64(update.Milliseconds())/float64(b.N), "update-ms/op")
	b.ReportMetric(float64(update)/float64(bare), "ratio")
}
