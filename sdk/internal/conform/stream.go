package conform

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
)

// Stream is a call that goes on until its context ends: Watch, or Subscribe.
type Stream struct {
	*Instance
	// Stop ends its context.
	Stop func()

	subject Subject
	name    string
	ended   chan error
}

// Readiness tells when a stream goes on as it should: Ready is closed. Early and Late say what is wrong when it returns
// before, and when that takes too long.
type Readiness struct {
	Ready       <-chan struct{}
	Early, Late string
}

// Follow starts the call of a name and waits until it has readiness.
func (p *Instance) Follow(s Subject, name string, readiness Readiness, call func(context.Context) error) *Stream {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	p.t.Cleanup(cancel)
	f := &Stream{Instance: p, Stop: cancel, subject: s, name: name, ended: make(chan error, 1)}
	go func() { f.ended <- call(ctx) }()
	select {
	case <-readiness.Ready:
	case err := <-f.ended:
		p.recorder.recordError(name, err)
		p.t.Fatalf("%s: %v", readiness.Early, err)
	case <-time.After(s.MaxWait()):
		p.t.Fatal(readiness.Late)
	}
	return f
}

// MustEnd waits for its end with an error.
func (f *Stream) MustEnd(want error) {
	f.t.Helper()
	select {
	case err := <-f.ended:
		if !errors.Is(err, want) {
			f.t.Errorf("%s returned %v, want %v", f.name, err, want)
		}
	case <-time.After(f.subject.MaxWait()):
		f.t.Errorf("%s goes on", f.name)
	}
}

// MustRelease releases the instance, which waits for the call.
func (f *Stream) MustRelease() {
	f.t.Helper()
	ctx, stop := context.WithTimeout(f.t.Context(), f.subject.MaxWait())
	defer stop()
	if err := f.Client.Release(ctx, f.ID); err != nil {
		f.t.Errorf("%s goes on in the plugin after it ended: %v", f.name, err)
	}
}

// Streams are the parts "release" and "replace" of a check: a stream ends with its instance, and when that is
// configured anew.
func (s Subject) Streams(t *testing.T, check string, start func(*testing.T, Situation) *Stream) {
	s.Sub(t, check, "release", func(t *testing.T) {
		f := start(t, s.Working(t))
		f.MustRelease()
		f.MustEnd(sdk.ErrUnavailable)
	})
	s.Sub(t, check, "replace", func(t *testing.T) {
		in := s.Working(t)
		f := start(t, in)
		if _, err := inprocess.Configure(t.Context(), f.Client, s.Type, "main", in.Options); err != nil {
			t.Fatalf("configure again: %v", err)
		}
		f.MustEnd(sdk.ErrUnavailable)
		f.MustRelease()
	})
}
