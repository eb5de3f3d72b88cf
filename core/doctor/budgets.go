package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// budgets compares each budget of check.budgets with what one check of all containers
// needs: a question about every repository, at least.
func (e *examination) budgets(containers []sdk.Container) []Finding {
	repositories := map[string]map[string]bool{}
	for _, c := range containers {
		host := strings.ToLower(c.Image.Registry.Host)
		if repositories[host] == nil {
			repositories[host] = map[string]bool{}
		}
		repositories[host][c.Image.Name] = true
	}
	allowed := e.Config.Check.Allowances()
	var found []Finding
	for _, host := range slices.Sorted(maps.Keys(allowed)) {
		a, needed := allowed[host], len(repositories[host])
		f := Finding{Subject: "budget of " + host, Level: OK, Detail: fmt.Sprintf("%d repositories to check, and %s", needed, a)}
		switch {
		case needed == 0:
			f.Level, f.Detail, f.Remedy = Warn, "no container has an image of this host, so it has no effect", "write the host as it stands in names of images, docker.io for Docker Hub, or remove it from check.budgets"
		case needed > a.Requests:
			rounds := (needed + a.Requests - 1) / a.Requests
			f.Level = Warn
			f.Detail += fmt.Sprintf(": a check is spread over %d, so that a new version is seen after up to %s", rounds, hours(time.Duration(rounds)*a.Per))
			f.Remedy = "allow more in check.budgets, if the registry does; those whose check is longest ago go first"
		}
		found = append(found, f)
	}
	return found
}

// hours is a duration without minutes and seconds that are 0.
func hours(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}
