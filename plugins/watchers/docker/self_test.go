package docker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/self"
)

// testSelfInSharedNetwork: what shares the network of another container, as behind a VPN, has
// the hostname and the files of that.
func (l *lab) testSelfInSharedNetwork(t *testing.T) {
	vpn := l.make(t, "vpn", "app:1", shape{}, true)
	defer l.Remove(t, "vpn")
	socket := mount.Mount{Type: mount.TypeBind, Source: strings.TrimPrefix(l.Host, "unix://"),
		Target: "/run/engine.sock"}
	s := shape{Host: container.HostConfig{
		NetworkMode: container.NetworkMode("container:" + vpn), Mounts: []mount.Mount{socket},
	}}
	s.Cmd = []string{"show", "/proc/self/mountinfo", "/proc/self/cgroup", "/etc/hostname", "/end"}
	dog := l.make(t, "dog", "app:1", s, true)
	defer l.Remove(t, "dog")
	bare := s
	bare.Host.Mounts = nil
	beside := l.make(t, "beside", "app:1", bare, true)
	defer l.Remove(t, "beside")
	for _, own := range []string{dog, beside} {
		seen := l.traces(t, own)
		all, err := l.docker.engine.Containers(t.Context(), true)
		check(t, err)
		for name, t2 := range map[string]self.Traces{
			"all": seen, "no control group": {Mounts: seen.Mounts, Hostname: seen.Hostname},
		} {
			if got := t2.Containers(t.Context(), l.docker.engine, all); !slices.Equal(got, []string{own}) {
				t.Errorf("%s: found %.12q, want %.12q in\n%s", name, got, own, t2.Mounts)
			}
		}
		seen.Cgroup, seen.Mounts = "", strings.ReplaceAll(seen.Mounts, "upperdir=", "hidden=")
		got := seen.Containers(t.Context(), l.docker.engine, all)
		if own == dog && !slices.Equal(got, []string{dog}) || own == beside && len(got) != 3 {
			t.Errorf("by the mounts alone: found %.12q of %.12q", got, own)
		}
	}
}

// traces returns what a container that runs "show" sees of itself.
func (l *lab) traces(t *testing.T, id string) self.Traces {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		log, err := l.docker.engine.Output(t.Context(), id)
		check(t, err)
		if parts := strings.Split(string(log), "== "); strings.Contains(string(log), "== /end") {
			part := func(n int) string {
				_, text, _ := strings.Cut(parts[n], "\n")
				return text
			}
			return self.Traces{Mounts: part(1), Cgroup: part(2), Hostname: strings.TrimSpace(part(3))}
		}
	}
	t.Fatal("it shows nothing")
	return self.Traces{}
}
