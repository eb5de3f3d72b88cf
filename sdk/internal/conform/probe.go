package conform

import (
	"context"
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// probe: an instance that can be probed describes what responded, ends with its
// context, fails with a reason and says no secret. One that cannot be is an sdk.ErrUnsupported.
func probe(t *testing.T, s Subject) {
	in := s.Working(t)
	p := Start(t, s, in)
	found, err := p.Probe(t.Context(), in)
	if !s.Offers(t, kind.CapProbe, "a probe", err) {
		return
	}
	if err != nil || found.Summary == "" {
		t.Errorf("probe of a working instance: %+v, %v; want a summary", found, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Probe(ended, in); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled probe returned %v", err)
	}
	p.MustWork() // it has no side effects on the instance
	for _, f := range s.Failing {
		s.Sub(t, "probe", f.Name, func(t *testing.T) {
			in := f.Make(t)
			p := Start(t, s, in)
			// A trigger may be able to reach a service that refuses what Run sends.
			if _, err := p.Probe(t.Context(), in); err == nil && s.Type.Kind != kind.Trigger {
				t.Error("the probe succeeded")
			} else if err != nil && !isKind(err, f.Kind) && s.Type.Kind != kind.Trigger {
				t.Errorf("%v: want an error of kind %s", err, kindName(f.Kind))
			}
		})
	}
	if s.Hanging != nil {
		s.Sub(t, "probe", "cancel", func(t *testing.T) { cancelProbe(t, s) })
	}
}

// cancelProbe: a probe of a service that hangs comes back when its context ends.
func cancelProbe(t *testing.T, s Subject) {
	in, reached := s.hang(t)
	call := Call{Name: "probe", Do: func(ctx context.Context, p *Instance) error {
		_, err := p.Probe(ctx, in)
		return err
	}}
	if s.Type.Kind == kind.Trigger { // what hangs in Run may respond to a probe
		p := Start(t, s, in)
		ctx, end := context.WithTimeout(t.Context(), s.MaxWait()/10)
		defer end()
		_ = p.Call(ctx, call)
		if err := p.Client.Release(t.Context(), p.ID); err != nil {
			t.Errorf("the probe goes on in the plugin after its context ended: %v", err)
		}
		return
	}
	cancelOne(t, s, in, call, reached)
}

// Probe probes the instance, remembering what it says.
func (p *Instance) Probe(ctx context.Context, in Situation) (sdk.ProbeResult, error) {
	found, err := p.Client.Probe(ctx, p.ID, sdk.ProbeRequest{Image: in.Image})
	p.recorder.record("summary of the probe", found.Summary)
	p.recorder.record("warning of the probe", found.Warnings...)
	p.recorder.record("remedy of the probe", sdk.Remedy(err))
	p.recorder.recordError("probe", err)
	return found, err
}
