package docker

import (
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
	mount := func(line, id string) string { return strings.Replace(line, "ID", id, 1) }
	for name, c := range map[string]struct{ mounts, hostname, want string }{
		"docker, a hostname of its own": {mount(docker, own), "dogwatch", own},
		"podman":                        {mount(podman, own), "dogwatch", own},
		"the hostname alone":            {"", own[:12], own},
		"no container":                  {"25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "nas", ""},
		"of another engine":             {mount(docker, strings.Repeat("c3", 32)), "dogwatch", ""},
		"a mount of another container":  {mount(data, other), "dogwatch", ""},
	} {
		if got := selfOf(all, c.mounts, c.hostname); got != c.want {
			t.Errorf("%s: got %.12q, want %.12q", name, got, c.want)
		}
	}
	if got := selfOf([]container.Summary{{ID: ""}}, "", ""); got != "" {
		t.Errorf("without a hostname: got %q", got)
	}
}
