package plugin_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// listed are containers as an engine with compose projects has them.
func listed(n int) []watcher.Container {
	all := make([]watcher.Container, n)
	for i := range all {
		labels := map[string]string{}
		for j := range 20 {
			labels[fmt.Sprint("org.opencontainers.image.label", j)] = fmt.Sprintf("the value of label %d of container %d", j, i)
		}
		digest := fmt.Sprintf("sha256:%064x", i)
		all[i] = watcher.Container{
			ID: fmt.Sprintf("%064x", i), Name: fmt.Sprint("container-", i), Status: "running", Labels: labels,
			ImageLabels: []string{"org.opencontainers.image.label0", "org.opencontainers.image.label1"},
			Image: watcher.Image{
				ID: digest, Host: "registry.example.org", Name: "team/app", Tag: "1.2.3", Digest: digest,
				Digests: []string{digest}, Platform: sdk.Platform{OS: "linux", Architecture: "amd64"},
			},
		}
	}
	return all
}

// BenchmarkList has the containers of a watcher cross the wire.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, all := newFakes(), listed(n)
			f.list = func(context.Context) ([]watcher.Container, error) { return all, nil }
			types := f.bundle()
			c := inprocess.Serve(b, types, hclog.DefaultOutput)
			if _, err := inprocess.Configure(b.Context(), c, types.Watchers[0].Type, "main", nil); err != nil {
				b.Fatal(err)
			}
			w := c.Watcher(id(kind.Watcher, "fakewatcher"))
			for b.Loop() {
				if got, err := w.List(b.Context()); err != nil || len(got) != n {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}
