package docker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
)

func TestSelfIsFoundByMountsOrHostname(t *testing.T) {
	own, other := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	all := []container.Summary{{ID: other}, {ID: own}}
	const docker = "812 790 8:1 /var/lib/docker/containers/ID/hostname /etc/hostname rw,relatime - ext4 /dev/sda1 rw\n"
	const podman = "77 70 0:24 /containers/storage/overlay-containers/ID/userdata/hosts /etc/hosts rw - tmpfs tmpfs rw\n"
	// What Dogwatch mounts of the engine's folder is not its own.
	const data = "813 790 8:1 /var/lib/docker/containers/ID/hostname /srv/backup/hostname rw - ext4 /dev/sda1 rw\n"
	mount := func(line, id string) traces {
		return traces{mounts: strings.Replace(line, "ID", id, 1), hostname: "dogwatch"}
	}
	for name, c := range map[string]struct {
		traces traces
		want   []string
	}{
		"docker, a hostname of its own": {mount(docker, own), []string{own}},
		"podman":                        {mount(podman, own), []string{own}},
		"the hostname alone":            {traces{hostname: own[:12]}, []string{own}},
		"the control group": {traces{"12:pids:/docker/" + own + "\n", mount(docker, other).mounts, ""},
			[]string{own}},
		"no container":                 {traces{"0::/\n", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "nas"}, nil},
		"of another engine":            {mount(docker, strings.Repeat("c3", 32)), nil},
		"a mount of another container": {mount(data, other), nil},
	} {
		if got := c.traces.containers(t.Context(), nil, all); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %.12q, want %.12q", name, got, c.want)
		}
	}
	if got := (traces{}).containers(t.Context(), nil, []container.Summary{{ID: ""}}); got != nil {
		t.Errorf("without a hostname: got %q", got)
	}
}

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
		all, err := l.docker.engine.containers(t.Context(), true)
		check(t, err)
		for name, t2 := range map[string]traces{
			"all": seen, "no control group": {mounts: seen.mounts, hostname: seen.hostname},
		} {
			if got := t2.containers(t.Context(), l.docker.engine, all); !slices.Equal(got, []string{own}) {
				t.Errorf("%s: found %.12q, want %.12q in\n%s", name, got, own, t2.mounts)
			}
		}
		seen.cgroup, seen.mounts = "", strings.ReplaceAll(seen.mounts, "upperdir=", "hidden=")
		got := seen.containers(t.Context(), l.docker.engine, all)
		if own == dog && !slices.Equal(got, []string{dog}) || own == beside && len(got) != 3 {
			t.Errorf("by the mounts alone: found %.12q of %.12q", got, own)
		}
	}
}

// traces returns what a container that runs "show" sees of itself.
func (l *lab) traces(t *testing.T, id string) traces {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		log, err := l.docker.engine.logs(t.Context(), id)
		check(t, err)
		if parts := strings.Split(string(log), "== "); strings.Contains(string(log), "== /end") {
			part := func(n int) string {
				_, text, _ := strings.Cut(parts[n], "\n")
				return text
			}
			return traces{mounts: part(1), cgroup: part(2), hostname: strings.TrimSpace(part(3))}
		}
	}
	t.Fatal("it shows nothing")
	return traces{}
}
