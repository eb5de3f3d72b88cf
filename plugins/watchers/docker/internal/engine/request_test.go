package engine

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestChangesNameTheTimeThatTheyWaited: each kind of request has a limit of its own.
func TestChangesNameTheTimeThatTheyWaited(t *testing.T) {
	e := enginesim.New(enginesim.Config{})
	listener, err := e.Listen(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	api := New(Endpoint{Network: "unix", Address: strings.TrimPrefix(listener.Address, "unix://")}, "", true)
	e.Fail(enginesim.ListContainers, enginesim.Fault{Hang: true})
	list := call{method: http.MethodGet, path: "/containers/json", limit: 40 * time.Millisecond}
	began := time.Now()
	err = api.do(t.Context(), endpointCall{what: "list containers", allow: "CONTAINERS"}, list)
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "no answer within 40ms") {
		t.Error(err)
	}
	if took := time.Since(began); took > api.Timeout/2 {
		t.Errorf("it waited %s, which is another limit", took)
	}
}
