package check

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// memory is a Store without a disk, so that a benchmark measures the check.
type memory struct{ byID map[string]sdk.Container }

func (m *memory) Containers(context.Context) ([]sdk.Container, error) {
	all := make([]sdk.Container, 0, len(m.byID))
	for _, c := range m.byID {
		all = append(all, c)
	}
	return all, nil
}

func (m *memory) Commit(_ context.Context, ch event.Change) error {
	for _, id := range ch.Remove {
		delete(m.byID, id)
	}
	for _, c := range ch.Put {
		m.byID[c.ID] = c
	}
	return nil
}

// constant is a registry in which every repository has the same tags.
type constant struct{ tags []string }

func (c constant) For(host string) (registryquery.Match, bool) {
	return registryquery.Match{ID: "hub.public", URL: "https://" + host + "/v2", Registry: c}, true
}

func (c constant) Tags(context.Context, registry.Repository, string) (registry.TagList, error) {
	return registry.TagList{Tags: c.tags}, nil
}

func (constant) Resolve(context.Context, registry.Repository, string) (string, error) {
	return digest("1"), nil
}

func (constant) Manifest(context.Context, registry.Repository, string, sdk.Platform) (registry.Manifest, error) {
	return registry.Manifest{}, nil
}

func fleet(n int) []sdk.Container {
	var list []sdk.Container
	for i := range n {
		image := fmt.Sprintf("team/app%d:1.25.0", i)
		if i%5 == 0 {
			image = fmt.Sprintf("team/app%d:latest", i)
		}
		var labels []string
		if i%4 == 0 {
			labels = []string{`dogwatch.tag.include=^\d+\.\d+\.\d+$`,
				"dogwatch.link.template=https://r.example/${major}.${minor}"}
		}
		list = append(list, container(fmt.Sprint("c", i), image, labels...))
	}
	return list
}

// BenchmarkRun is a check of 1,000 containers of as many repositories with 100
// tags each, in which nothing is new.
func BenchmarkRun(b *testing.B) {
	var tags []string
	for i := range 100 {
		tags = append(tags, fmt.Sprintf("1.%d.0", i/4))
	}
	served := constant{tags}
	c := assemble(options{
		Queries: registryquery.Options{
			Registries: served, Cache: forgetful{}, Limits: registryquery.Limits{PerHost: 4, Total: 16},
		},
		Store: &memory{map[string]sdk.Container{}},
		Options: Options{
			Order: func() []string { return []string{"local"} }, Log: hclog.NewNullLogger(), Now: time.Now,
		},
	})
	w := Watcher{Name: "local", WatchByDefault: true, Lister: &engine{list: fleet(1000)}}
	if _, err := c.Run(b.Context(), w); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := c.Run(b.Context(), w); err != nil || r.Containers != 1000 || r.Failed != 0 {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkPolicy reads the labels of 1,000 containers, a quarter of which have patterns.
func BenchmarkPolicy(b *testing.B) {
	list := fleet(1000)
	b.ReportAllocs()
	for b.Loop() {
		for i := range list {
			labels.Read(label.Set{Operator: list[i].Labels}, labels.Options{WatchByDefault: true})
		}
	}
}

// BenchmarkManyTags chooses among 300,000 tags for ten containers of one repository.
func BenchmarkManyTags(b *testing.B) {
	var tags []string
	for i := range 300_000 {
		tags = append(tags, fmt.Sprintf("1.%d.%d-build%d", i/1000, i%1000, i))
	}
	var list []sdk.Container
	for i := range 10 {
		list = append(list, container(fmt.Sprint("c", i), "team/app:1.25.0"))
	}
	c := assemble(options{
		Queries: registryquery.Options{
			Registries: constant{tags}, Cache: forgetful{}, Limits: registryquery.Limits{PerHost: 4, Total: 16},
		},
		Store: &memory{map[string]sdk.Container{}},
		Options: Options{
			Order: func() []string { return []string{"local"} }, Log: hclog.NewNullLogger(), Now: time.Now,
		},
	})
	w := Watcher{Name: "local", WatchByDefault: true, Lister: &engine{list: list}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Run(b.Context(), w); err != nil {
			b.Fatal(err)
		}
	}
}
