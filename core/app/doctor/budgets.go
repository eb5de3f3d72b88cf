package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
)

// budgets compares each budget of check.budgets with what one check of all containers
// needs: a question about every repository, at least. What was used, and what hosts without
// a budget reported, are as the Dogwatch that serves has stored them.
func (e *examination) budgets(ctx context.Context, containers []sdk.Container) []Finding {
	repositories := map[string]map[string]bool{}
	for _, c := range containers {
		host := strings.ToLower(c.Image.Registry.Host)
		if repositories[host] == nil {
			repositories[host] = map[string]bool{}
		}
		repositories[host][c.Image.Name] = true
	}
	allowed := e.Config.Check.Allowances()
	forecasts := budget.Forecasts(allowed, e.requests(ctx), e.Now())
	var found []Finding
	for _, host := range slices.Sorted(maps.Keys(allowed)) {
		a, needed := allowed[host], len(repositories[host])
		f := Finding{
			Subject: "budget of " + host, Level: OK, Detail: fmt.Sprintf("%d repositories to check, and %s", needed, a),
		}
		switch {
		case needed == 0:
			f.Level, f.Detail, f.Remedy = Warn, "no container has an image of this host, so it has no effect",
				"write the host as it stands in names of images, docker.io for Docker Hub, or remove it from check.budgets"
		case needed > a.Requests:
			rounds := (needed + a.Requests - 1) / a.Requests
			f.Level = Warn
			f.Detail += fmt.Sprintf(": a check is spread over %d, so that a new version is seen after up to %s", rounds,
				budget.Length(time.Duration(rounds)*a.Per))
			f.Remedy = "allow more in check.budgets, if the registry does; those whose check is longest ago go first"
		}
		for _, c := range forecasts {
			if c.Host == host && needed > 0 && c.Used > 0 {
				f.Detail += "; " + c.String()
				if !c.FullUntil.IsZero() {
					f.Detail += "; nothing is left until " + sdk.TimeOf(c.FullUntil).String()
				}
			}
		}
		found = append(found, f)
	}
	for _, c := range forecasts {
		if _, ok := allowed[c.Host]; !ok && c.Used > 0 {
			f := Finding{Subject: "requests to " + c.Host, Level: OK, Detail: c.String()}
			if c.Spreads() {
				f.Level, f.Remedy = Warn, "check less often (cron), or give the registry a login: those have larger limits"
			}
			found = append(found, f)
		}
	}
	return found
}

// requests returns what is stored of the requests to hosts; nothing when that cannot be read,
// which the examination of the store says.
func (e *examination) requests(ctx context.Context) []budget.Saved {
	r, err := store.Read(ctx, e.Config.StoreFile())
	if err != nil {
		return nil
	}
	defer r.Close()
	all, _ := r.Requests(ctx)
	return all
}
