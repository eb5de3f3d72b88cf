package self

import (
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestSelfIsFoundByMountsOrHostname(t *testing.T) {
	own, other := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	all := []container.Summary{{ID: other}, {ID: own}}
	const docker = "812 790 8:1 /var/lib/docker/containers/ID/hostname /etc/hostname rw,relatime - ext4 /dev/sda1 rw\n"
	const podman = "77 70 0:24 /containers/storage/overlay-containers/ID/userdata/hosts /etc/hosts rw - tmpfs tmpfs rw\n"
	// What Dogwatch mounts of the engine's folder is not its own.
	const data = "813 790 8:1 /var/lib/docker/containers/ID/hostname /srv/backup/hostname rw - ext4 /dev/sda1 rw\n"
	mount := func(line, id string) Traces {
		return Traces{Mounts: strings.Replace(line, "ID", id, 1), Hostname: "dogwatch"}
	}
	for name, c := range map[string]struct {
		traces Traces
		want   []string
	}{
		"docker, a hostname of its own": {mount(docker, own), []string{own}},
		"podman":                        {mount(podman, own), []string{own}},
		"the hostname alone":            {Traces{Hostname: own[:12]}, []string{own}},
		"the control group": {Traces{"12:pids:/docker/" + own + "\n", mount(docker, other).Mounts, ""},
			[]string{own}},
		"no container":                 {Traces{"0::/\n", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "nas"}, nil},
		"of another engine":            {mount(docker, strings.Repeat("c3", 32)), nil},
		"a mount of another container": {mount(data, other), nil},
	} {
		if got := c.traces.Containers(t.Context(), nil, all); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %.12q, want %.12q", name, got, c.want)
		}
	}
	if got := (Traces{}).Containers(t.Context(), nil, []container.Summary{{ID: ""}}); got != nil {
		t.Errorf("without a hostname: got %q", got)
	}
}
