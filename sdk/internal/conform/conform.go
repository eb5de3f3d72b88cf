// Package conform holds what the conformance kits of the three kinds have in
// common: everything that can be checked of a type without knowing what its calls mean.
package conform

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/inprocess"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// Subject is a type under test.
type Subject struct {
	Bundle plugin.Bundle
	Type   kind.Type
	// Working is a situation in which every call succeeds.
	Working func(*testing.T) Situation
	// Hanging is one in which every call blocks, after reached is called, until its context ends.
	Hanging func(t *testing.T, reached func()) Situation
	Failing []Failure
	Invalid []Invalid
	// More are the checks of the kind.
	More []Check
	// Timeout is how long to wait for what should happen at once; 0 for a time
	// that is long enough on a busy machine.
	Timeout time.Duration
	// Skip names checks that do not apply, as "check" or "check/part".
	Skip []string
}

// Situation is a set of options together with the calls that can be made of
// the instance that they configure.
type Situation struct {
	Options map[string]any
	Calls   []Call
	// Image is what a registry is probed with.
	Image string
}

// Call is one method of a kind.
type Call struct {
	Name string
	Do   func(ctx context.Context, p *Instance) error
}

// Failure is a situation in which every call fails with an error of Kind.
type Failure struct {
	Name string
	Make func(*testing.T) Situation
	Kind error
}

// Invalid are changes to working options that are refused because of Field.
type Invalid struct {
	Field string
	Set   map[string]any
}

// Check is one thing that a type must do well.
type Check struct {
	Name string
	Run  func(t *testing.T, s Subject)
}

// MaxWait is s.Timeout or its default.
func (s Subject) MaxWait() time.Duration { return cmp.Or(s.Timeout, 15*time.Second) }

// Offers reports whether the type has a capability. Without it, a call of what is offered ends with an
// sdk.ErrUnsupported; err is how it ended.
func (s Subject) Offers(t *testing.T, capability, what string, err error) bool {
	t.Helper()
	if slices.Contains(s.Type.Capabilities, capability) {
		return true
	}
	if !errors.Is(err, sdk.ErrUnsupported) {
		t.Errorf("a type without the capability %s returned %v for %s", capability, err, what)
	}
	return false
}

// Run runs every check that is not skipped as a subtest of its name. After
// each, whatever the instances said is searched for secrets and panics.
func Run(t *testing.T, s Subject) {
	t.Helper()
	checks := slices.Concat([]Check{
		{"describe", describe},
		{"options", options},
		{"replace", replace},
		{"release", release},
		{"concurrent", concurrent},
		{"cancel", cancel},
		{"errors", classify},
		{"secrets", secrets},
		{"probe", probe},
	}, s.More)
	for _, name := range s.Skip {
		name, _, _ = strings.Cut(name, "/")
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.Name == name }) {
			t.Errorf("Skip names %q, which is no check", name)
		}
	}
	for _, c := range checks {
		s.run(t, "", c.Name, func(t *testing.T) { c.Run(t, s) })
	}
}

// Sub runs a part of the check that t belongs to, unless Skip names it as "check/part".
func (s Subject) Sub(t *testing.T, check, part string, run func(*testing.T)) {
	s.run(t, check+"/", part, run)
}

func (s Subject) run(t *testing.T, prefix, name string, run func(*testing.T)) {
	if !slices.Contains(s.Skip, prefix+name) {
		t.Run(name, run)
	}
}

// Instance is one bundle with one instance of a Situation in it.
type Instance struct {
	Client *pluginclient.Client
	ID     string

	t        *testing.T
	calls    []Call
	recorder *recorder
}

// Start serves the bundle and configures its instance "main" in situation s.
// At the end of the test, whatever the instance said is searched for secrets and panics.
func Start(t *testing.T, s Subject, in Situation) *Instance {
	t.Helper()
	w := newRecorder(s.Type.Options, in.Options)
	log := &plugintest.Log{}
	c := inprocess.Serve(t, s.Bundle, log)
	t.Cleanup(func() { w.inspect(t, log) })
	p := &Instance{Client: c, ID: inprocess.ID(s.Type, "main"), t: t, calls: in.Calls, recorder: w}
	configured, err := inprocess.Configure(t.Context(), c, s.Type, "main", in.Options)
	w.record("warning", configured.Warnings...)
	if err != nil {
		w.recordError("configure", err)
		t.Fatalf("configure with valid options: %v", err)
	}
	return p
}

// Call makes one call and records the text of its error.
func (p *Instance) Call(ctx context.Context, c Call) error {
	err := c.Do(ctx, p)
	p.recorder.recordError(c.Name, err)
	return err
}

// AddSecret adds a secret that is no option: it must not leak either.
func (p *Instance) AddSecret(what, secret string) { p.recorder.addSecret(what, secret) }

// Record adds another text of the instance to those that are inspected.
func (p *Instance) Record(what string, texts ...string) { p.recorder.record(what, texts...) }

// MustWork makes every call of the situation, each of which must succeed.
func (p *Instance) MustWork() {
	p.t.Helper()
	for _, c := range p.calls {
		if err := p.Call(p.t.Context(), c); err != nil {
			p.t.Errorf("%s: %v", c.Name, err)
		}
	}
}
