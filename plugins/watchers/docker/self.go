package docker

import (
	"os"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// ownMount matches the host's path of a file that an engine mounts into each of
// its containers: Docker ".../containers/ID/hostname", Podman
// ".../overlay-containers/ID/userdata/hostname" (see proc_pid_mountinfo(5)).
var ownMount = lazyregexp.New(`containers/([0-9a-f]{64})/(?:userdata/)?(?:hostname|hosts|resolv\.conf) /etc/`)

// self returns the id of the container in which this process runs, if it is one
// of these; "" when it is not, or runs in none. A hostname of its own hides the id
// there, but not among the mounts, and the reverse holds for some engines.
func self(all []container.Summary) string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo") // elsewhere than on Linux there is none
	hostname, _ := os.Hostname()
	return selfOf(all, string(mounts), hostname)
}

func selfOf(all []container.Summary, mounts, hostname string) string {
	mounted := map[string]bool{}
	for _, m := range ownMount().FindAllStringSubmatch(mounts, -1) {
		mounted[m[1]] = true
	}
	for _, c := range all {
		if mounted[c.ID] || hostname != "" && hostname == short(c.ID) {
			return c.ID
		}
	}
	return ""
}
