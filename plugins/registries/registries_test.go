package registries_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// scopeHints is how many repositories the host names in one request.
const scopeHints = 120

// fleet is many repositories, of which a check requests a list of tags each.
type fleet struct {
	sims  []*registrysim.Registry
	repos []registry.Repository
	by    map[string]registry.Registry // by host
	seen  map[string]string            // validators
}

func newFleet(tb testing.TB, repositories int, latency time.Duration) *fleet {
	tb.Helper()
	f := &fleet{by: map[string]registry.Registry{}, seen: map[string]string{}}
	types := registries.Types()
	kinds := []struct {
		typ, host string
		options   registrysim.Options
	}{
		{"hub", "docker.io", registrysim.Options{Service: "registry.docker.io"}},
		{"ghcr", "ghcr.io", registrysim.Options{Service: "ghcr.io", Scopes: registrysim.EveryTarget}},
		{"quay", "quay.io", registrysim.Options{Service: "quay.io"}},
	}
	for k, kind := range kinds {
		kind.options.Auth, kind.options.ETags, kind.options.Latency = registrysim.Token, true, latency
		sim := registrysim.New(kind.options)
		server, err := sim.Start()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { server.Close() })
		f.sims = append(f.sims, sim)
		i := slices.IndexFunc(types, func(t registry.Type) bool { return t.Name == kind.typ })
		r, err := types[i].New(sdk.Env{Instance: "registry." + kind.typ + ".public"}, map[string]any{"mirror": server.URL})
		if err != nil {
			tb.Fatal(err)
		}
		f.by[kind.host] = r
		var names []string
		for n := k; n < repositories; n += len(kinds) {
			names = append(names, fmt.Sprintf("team%d/app%d", n%7, n))
			sim.Push(names[len(names)-1], "1.0.0", "1.1.0", "2.0.0", "latest")
		}
		for chunk := range slices.Chunk(names, scopeHints) {
			for _, name := range chunk {
				f.repos = append(f.repos, registry.Repository{Host: kind.host, Name: name, ScopeHints: chunk})
			}
		}
	}
	return f
}

// run requests all tags, as many at a time as the core does.
func (f *fleet) run(ctx context.Context) error {
	validators := make([]string, len(f.repos))
	hosts, ctx := errgroup.WithContext(ctx)
	limits := map[string]*errgroup.Group{}
	for host := range f.by {
		limits[host] = &errgroup.Group{}
		limits[host].SetLimit(8)
	}
	list := func(i int, repo registry.Repository) {
		limits[repo.Host].Go(func() error {
			list, err := f.by[repo.Host].Tags(ctx, repo, f.seen[repo.Host+"/"+repo.Name])
			if err == nil && !list.NotModified && len(list.Tags) != 4 {
				err = fmt.Errorf("%s has tags %q", repo.Name, list.Tags)
			}
			validators[i] = list.Validator
			return err
		})
	}
	for host, limit := range limits {
		hosts.Go(func() error {
			for i, repo := range f.repos {
				if repo.Host == host {
					list(i, repo)
				}
			}
			return limit.Wait()
		})
	}
	err := hosts.Wait()
	for i, repo := range f.repos {
		f.seen[repo.Host+"/"+repo.Name] = validators[i]
	}
	return err
}

// counts adds up the requests of the registries, and starts anew.
func (f *fleet) counts() registrysim.Counts {
	var sum registrysim.Counts
	for _, sim := range f.sims {
		c := sim.Counts()
		sim.ResetCounts()
		sum.Total += c.Total
		sum.Tokens += c.Tokens
		sum.Tags += c.Tags
		sum.Manifests += c.Manifests
		sum.NotModified += c.NotModified
		sum.Refused += c.Refused
		sum.MaxInFlight = max(sum.MaxInFlight, c.MaxInFlight)
	}
	return sum
}

// Two checks of 200 repositories on three hosts that want tokens.
func TestRequestCountOfTwoHundredRepositories(t *testing.T) {
	f := newFleet(t, 200, 0)
	if err := f.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := f.counts()
	if first.Total > 207 || first.MaxInFlight > 8 {
		t.Errorf("first check: %+v, want at most 207 requests, 8 of a host at once", first)
	}
	if err := f.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if next := f.counts(); next.Total > 205 || next.NotModified != 200 || next.MaxInFlight > 8 {
		t.Errorf("next check: %+v, want at most 205 requests, 200 of them not modified", next)
	}
	t.Logf("first check: %+v", first)
}

func BenchmarkFleet(b *testing.B) {
	for _, latency := range []time.Duration{0, 30 * time.Millisecond} {
		b.Run(fmt.Sprint(latency), func(b *testing.B) {
			var first, next registrysim.Counts
			for b.Loop() {
				b.StopTimer()
				f := newFleet(b, 200, latency)
				b.StartTimer()
				if err := f.run(b.Context()); err != nil {
					b.Fatal(err)
				}
				first = f.counts()
				if err := f.run(b.Context()); err != nil {
					b.Fatal(err)
				}
				next = f.counts()
			}
			b.ReportMetric(float64(first.Total), "requests/first")
			b.ReportMetric(float64(next.Total), "requests/next")
			b.ReportMetric(float64(max(first.MaxInFlight, next.MaxInFlight)), "in-flight/host")
		})
	}
}
