package containers

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestPullCommand(t *testing.T) {
	for want, c := range map[string]sdk.Container{
		"docker pull x:1.0.0": webtest.Container("x"),
		"docker pull x:2":     webtest.Container("x", webtest.Newer("2", "major")),
		"docker pull ghcr.io/o/x:1.0.0": webtest.Container("x", func(c *sdk.Container) {
			c.Image.Registry.Host, c.Image.Name = "ghcr.io", "o/x"
		}),
		"docker pull x@sha256:0123456789ab": webtest.Container("x", func(c *sdk.Container) { c.Image.Tag.Value = "sha256:0123456789ab" }),
		"":                                  webtest.Container("x", func(c *sdk.Container) { c.Image.Name = "" }),
	} {
		if got := pullOf(&c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
