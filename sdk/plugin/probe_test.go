package plugin_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// probed is a trigger whose probe fails with err, if that is set.
type probed struct{ err error }

func (probed) Run(context.Context, trigger.Request) error { return nil }

func (p probed) Probe(_ context.Context, req sdk.ProbeRequest) (sdk.ProbeResult, error) {
	return sdk.ProbeResult{Summary: "image " + req.Image, Warnings: []string{"slow"}}, p.err
}

func TestProbe(t *testing.T) {
	fail := sdk.WithRemedy(sdk.WithKind(sdk.ErrUnauthorized, errors.New("denied")), "log in")
	typ := trigger.Define("probed", "Can be probed", func(_ sdk.Env, o fakeOptions) (probed, error) {
		if o.Label == "fails" {
			return probed{fail}, nil
		}
		return probed{}, nil
	})
	if !slices.Equal(typ.Capabilities, []string{kind.CapProbe}) {
		t.Errorf("capabilities %q", typ.Capabilities)
	}
	f := newFakes()
	b := f.bundle()
	c := inprocess.Serve(t, plugin.Bundle{Watchers: b.Watchers, Triggers: []trigger.Type{typ}}, io.Discard)
	configure(t, c, kind.Trigger, "probed", "")
	got, err := c.Probe(t.Context(), id(kind.Trigger, "probed"), sdk.ProbeRequest{Image: "a"})
	if want := (sdk.ProbeResult{Summary: "image a", Warnings: []string{"slow"}}); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	configure(t, c, kind.Trigger, "probed", "fails")
	_, err = c.Probe(t.Context(), id(kind.Trigger, "probed"), sdk.ProbeRequest{})
	if !errors.Is(err, sdk.ErrUnauthorized) || err.Error() != "denied" || sdk.Remedy(err) != "log in" {
		t.Errorf("got %v with the remedy %q", err, sdk.Remedy(err))
	}
	configure(t, c, kind.Watcher, "fakewatcher", "")
	if _, err := c.Probe(t.Context(), id(kind.Watcher, "fakewatcher"), sdk.ProbeRequest{}); !errors.Is(err,
		sdk.ErrUnsupported) {
		t.Errorf("an instance that cannot be probed: %v", err)
	}
	if _, err := c.Probe(t.Context(), "trigger.probed.other", sdk.ProbeRequest{}); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("an unknown instance: %v", err)
	}
}
