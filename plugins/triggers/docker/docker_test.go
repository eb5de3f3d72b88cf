package docker

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(*testing.T) map[string]any { return map[string]any{"keep": "1"} },
		Adapt:   func(_ *testing.T, req trigger.Request) trigger.Request { return numbered(req) },
		Skip:    []string{"cancel", "errors"}, // a request to the host neither waits nor fails
	})
}

// numbered gives each container an id of its own.
func numbered(req trigger.Request) trigger.Request {
	req.Containers = slices.Clone(req.Containers)
	for i := range req.Containers {
		req.Containers[i].ID = fmt.Sprint("id", i)
	}
	return req
}

// TestRunRequestsUpdates: each container is requested with the rules of the options.
func TestRunRequestsUpdates(t *testing.T) {
	for _, c := range []struct {
		options map[string]any
		want    watcher.UpdateRules
	}{
		{nil, watcher.UpdateRules{}},
		{map[string]any{
			"prune": "true", "dryrun": "true", "keep": "2", "autoremovetimeout": "5000", "multinetworkfallback": "false",
		},
			watcher.UpdateRules{Prune: true, DryRun: true, Keep: 2}},
	} {
		instance := plugintest.Trigger(t, Type(), c.options)
		if len(instance.Warnings) > 0 {
			t.Errorf("%v: warnings %v", c.options, instance.Warnings)
		}
		var got []trigger.OperationRequest
		req := numbered(triggertest.Request("web", "db")).WithOperate(func(o trigger.OperationRequest) error {
			got = append(got, o)
			return nil
		})
		if err := instance.Run(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var want []trigger.OperationRequest
		for _, of := range req.Containers {
			want = append(want, trigger.OperationRequest{ContainerID: of.ID, Rules: c.want})
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: requested %+v, want %+v", c.options, got, want)
		}
	}
}

// TestRunWithoutPermission: without the capability there is an error, and a test needs none.
func TestRunWithoutPermission(t *testing.T) {
	instance := plugintest.Trigger(t, Type(), nil)
	req := triggertest.Request("web")
	if err := instance.Run(t.Context(), req); !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	req.Test = true
	if err := instance.Run(t.Context(), req); err != nil {
		t.Errorf("a test: %v", err)
	}
}
