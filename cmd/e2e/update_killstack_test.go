package e2e

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// stackBlows are the moments that only updates of more than a plain container have, with how
// many requests of that kind come before: the second create is that of what depends on it.
func stackBlows() (all []moment, skips []int) {
	for _, b := range []struct {
		what string
		skip int
	}{
		{"hook", 0}, {"connect", 0}, {"files", 0}, {"stop", 1}, {"hook", 1}, {"rename", 1}, {"create", 1}, {"files", 1},
		{"start", 1}, {"remove", 1}, {"prune", 0},
	} {
		for _, responded := range []bool{false, true} {
			all, skips = append(all, moment{what: b.what, responded: responded}), append(skips, b.skip)
		}
	}
	return all, skips
}

// TestKillDuringUpdateOfAStack kills Dogwatch or its plugin at the further steps of an update
// of a container with two networks, hooks, files that compose put into it, an image to prune,
// and another container in its network.
func TestKillDuringUpdateOfAStack(t *testing.T) {
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	repeat, sample := killRounds(t)
	for name, subnet := range map[string]string{"front": "10.98.16.0/24", "back": "10.98.17.0/24"} {
		_, err := engine.API.NetworkCreate(t.Context(), name, network.CreateOptions{
			Driver: "bridge", IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}},
		})
		must(t, err)
	}
	t.Run("victims", func(t *testing.T) {
		for v, victim := range []string{"host", "plugin"} {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				k := newKilling(t, engine, registry, victim, "DOGWATCH_WATCHER_DOCKER_LOCAL_HOOKS=true",
					"DOGWATCH_WATCHER_DOCKER_LOCAL_PRUNE=true")
				k.stack(t)
				blows, skips := stackBlows()
				for range repeat {
					for i, b := range blows {
						if sample && i%6 != 3*v { // the one before, the other after requests
							continue
						}
						k.skip = skips[i]
						k.round(t, b, false)
					}
				}
				k.d.stop()
				t.Logf("the updates ended %v", k.ends)
			})
		}
	})
}

// stack has rounds with a container of many parts, and one in its network.
func (k *killing) stack(t *testing.T) {
	const conf = "level: debug\n"
	engine, client := k.p.engine, "with-"+k.victim
	image := "client-" + k.victim + ":1"
	engine.Image(t, image)
	k.containers = 2
	k.make = func(t *testing.T, tag string) string {
		t.Helper()
		engine.Pull(t, k.p.repo+":"+tag) // it may be pruned
		if len(containersOf(t, engine, client)) > 0 {
			engine.Remove(t, client)
		}
		made := runWithFile(t, engine, k.victim, conf,
			&container.Config{Image: k.p.repo + ":" + tag, Labels: map[string]string{
				"dogwatch.watch": "true", "dogwatch.hook.pre": `["/main","health","h"]`,
				"dogwatch.hook.post": `["/main","health","h"]`,
			}}, "front", "back")
		runWithFile(t, engine, client, conf, &container.Config{Image: image}, "container:"+made)
		return made
	}
	k.holds = func(t *testing.T) {
		t.Helper()
		c, err := engine.API.ContainerInspect(t.Context(), k.victim)
		must(t, err)
		follows, err := engine.API.ContainerInspect(t.Context(), client)
		must(t, err)
		if got := string(follows.HostConfig.NetworkMode); got != "container:"+c.ID || !follows.State.Running ||
			len(containersOf(t, engine, client)) != 1 {
			t.Errorf("%s is %s in the network of %s, want that of %s", client, follows.State.Status, got, c.ID)
		}
		if n := c.NetworkSettings.Networks; len(n) != 2 || n["front"] == nil || n["back"] == nil {
			t.Errorf("%s has the networks %s", k.victim, show(n))
		}
		for _, name := range []string{k.victim, client} {
			if got := fileOf(t, engine, name, "/app.conf"); got != conf {
				t.Errorf("the file in %s is %q", name, got)
			}
		}
	}
}

// runWithFile makes and starts a container with the file /app.conf, as compose does with a config.
func runWithFile(
	t testing.TB, engine *dockertest.Daemon, name, conf string, config *container.Config, first string, more ...string,
) string {
	t.Helper()
	made, err := engine.API.ContainerCreate(t.Context(), config, &container.HostConfig{
		NetworkMode: container.NetworkMode(first),
	}, nil, nil, name)
	must(t, err)
	for _, n := range more {
		must(t, engine.API.NetworkConnect(t.Context(), n, made.ID, nil))
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	must(t, w.WriteHeader(&tar.Header{Name: "app.conf", Size: int64(len(conf)), Mode: 0o444, ModTime: time.Now()}))
	_, err = w.Write([]byte(conf))
	must(t, err)
	must(t, w.Close())
	must(t, engine.API.CopyToContainer(t.Context(), made.ID, "/", &archive, container.CopyToContainerOptions{}))
	must(t, engine.API.ContainerStart(t.Context(), made.ID, container.StartOptions{}))
	return made.ID
}

// fileOf returns a file of a container; "" when there is none.
func fileOf(t testing.TB, engine *dockertest.Daemon, name, path string) string {
	t.Helper()
	stream, _, err := engine.API.CopyFromContainer(t.Context(), name, path)
	if err != nil {
		return ""
	}
	defer stream.Close()
	r := tar.NewReader(stream)
	_, err = r.Next()
	must(t, err)
	var content strings.Builder
	_, err = io.Copy(&content, r)
	must(t, err)
	return content.String()
}
