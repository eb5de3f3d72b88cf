package protocol

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// listing is the message of containers as an engine with compose projects has them.
func listing(n int) *pluginv1.ListResponse {
	m := &pluginv1.ListResponse{}
	for i := range n {
		labels := map[string]string{}
		for j := range 20 {
			labels[fmt.Sprint("org.opencontainers.image.label", j)] = fmt.Sprintf("the value of label %d of container %d", j, i)
		}
		digest := fmt.Sprintf("sha256:%064x", i)
		m.Containers = append(m.Containers, EncodeListed(watcher.Container{
			ID: fmt.Sprintf("%064x", i), Name: fmt.Sprint("container-", i), Status: "running", Labels: labels,
			ImageLabels: []string{"org.opencontainers.image.label0", "org.opencontainers.image.label1"},
			Image: watcher.Image{
				ID: digest, Host: "registry.example.org", Name: "team/app", Tag: "1.2.3", Digest: digest,
				Digests: []string{digest}, Platform: sdk.Platform{OS: "linux", Architecture: "amd64"},
			},
		}))
	}
	return m
}

// BenchmarkAnswer decodes a list of containers, with and without its bounds.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{200, 1000} {
		encoded, err := proto.Marshal(listing(n))
		if err != nil {
			b.Fatal(err)
		}
		for name, decode := range map[string]func(proto.Message) error{
			"bounded": func(m proto.Message) error {
				return NewAnswer(listMethod, new(Held)).Unmarshal(encoded, m)
			},
			"unbounded": func(m proto.Message) error { return proto.Unmarshal(encoded, m) },
			"check": func(proto.Message) error {
				return NewAnswer(listMethod, new(Held)).take(encoded)
			},
		} {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				b.SetBytes(int64(len(encoded)))
				for b.Loop() {
					if err := decode(&pluginv1.ListResponse{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
