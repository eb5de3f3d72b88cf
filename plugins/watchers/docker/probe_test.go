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

func TestProbe(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	d := watch(t, Options{Connection: Connection{Socket: serve(t, e)}})
	found, err := d.Probe(t.Context(), sdk.ProbeRequest{})
	check(t, err)
	if !strings.HasPrefix(found.Summary, "Docker/simulated (linux), API 1.") {
		t.Errorf("the engine is %q", found.Summary)
	}
	if len(found.Warnings) > 0 {
		t.Errorf("a watcher that only reads warns of %q", found.Warnings)
	}
	updating := watch(t, Options{Connection: Connection{Socket: d.engine.Endpoint.Address}, Update: true})
	found, err = updating.Probe(t.Context(), sdk.ProbeRequest{})
	check(t, err)
	if len(found.Warnings) != 1 ||
		!strings.Contains(found.Warnings[0], "takes no changes: allow POST, CONTAINERS, IMAGES and NETWORKS in the proxy") {
		t.Errorf("one that may update an engine that takes no changes warns of %q", found.Warnings)
	}
	none := filepath.Join(socketDir(t), "none.sock")
	_, err = watch(t, Options{Connection: Connection{Socket: none}}).Probe(t.Context(), sdk.ProbeRequest{})
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "no socket there") ||
		!strings.Contains(sdk.Remedy(err), "mount the socket into it: "+none) {
		t.Errorf("without an engine: %v with the remedy %q", err, sdk.Remedy(err))
	}
	e.Fail(enginesim.Ping, enginesim.Fault{Status: http.StatusForbidden})
	if found, err := d.Probe(t.Context(), sdk.ProbeRequest{}); err != nil ||
		!strings.HasPrefix(found.Summary, "an engine at unix://") {
		t.Errorf("behind a proxy that forbids pings: %+v, %v", found, err)
	}
	e.Fail(enginesim.ListContainers, enginesim.Fault{Status: http.StatusForbidden})
	if _, err := d.Probe(t.Context(), sdk.ProbeRequest{}); !errors.Is(err, sdk.ErrUnauthorized) {
		t.Errorf("behind a proxy that forbids containers: %v", err)
	}
}
