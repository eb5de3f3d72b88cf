package docker

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestAbout(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	d := watch(t, Options{Socket: serve(t, e)})
	about, err := d.About(t.Context())
	check(t, err)
	if !strings.HasPrefix(about, "Docker/simulated (linux), API 1.") {
		t.Errorf("the engine is %q", about)
	}
	if _, err := watch(t, Options{Socket: filepath.Join(socketDir(t), "none.sock")}).About(t.Context()); !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "there is no such socket") {
		t.Errorf("without an engine: %v", err)
	}
	e.Fail(enginesim.Ping, enginesim.Fault{Status: http.StatusForbidden})
	if _, err := d.About(t.Context()); !errors.Is(err, sdk.ErrUnauthorized) {
		t.Errorf("behind a proxy that forbids it: %v", err)
	}
}
