package updater

import (
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestImageDiff(t *testing.T) {
	f := freshWith(t, &parts{config: &sdk.ImageConfig{User: "app"}, forbidden: true})
	running := container("web")
	running.Image.Digest.Repo = "sha256:old"
	for _, test := range []struct {
		name  string
		setUp func(c *sdk.Container)
		want  error
	}{
		{"of a watcher that may not update", func(*sdk.Container) {}, nil},
		{"nothing newer", func(c *sdk.Container) { c.UpdateAvailable = false }, ErrNoUpdate},
		{"built here", func(c *sdk.Container) { c.Image.Digest.Repo = "" }, sdk.ErrUnsupported},
		{"a registry that cannot", func(*sdk.Container) { f.config = nil }, sdk.ErrUnsupported},
		{"gone from the registry", func(*sdk.Container) {
			f.noConfig = sdk.WithKind(sdk.ErrNotFound, errors.New("404"))
		}, sdk.ErrUnsupported},
		{"a registry that is down", func(*sdk.Container) {
			f.noConfig = sdk.WithKind(sdk.ErrUnavailable, errors.New("503"))
		}, sdk.ErrUnavailable},
	} {
		c := running
		test.setUp(&c)
		d, err := f.ImageDiff(t.Context(), c)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		if err == nil &&
			(d.From.Digest != "sha256:old" || d.To.Digest != "sha256:new" ||
				d.To.Reference != "docker.io/library/nginx:1.26.0" || len(d.Changes) != 0) {
			t.Errorf("%s: %+v", test.name, d)
		}
	}
}
