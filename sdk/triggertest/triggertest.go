// Package triggertest checks that a trigger keeps the promises of package
// trigger, by serving it over real gRPC as a plugin is served. Its author
// brings three things: options that work, a service that hangs, and services that fail.
//
//	func TestConformance(t *testing.T) {
//		triggertest.Run(t, ntfy.Type(), triggertest.Case{
//			Options: func(t *testing.T) map[string]any {
//				return options(plugintest.Responding(t, http.StatusOK))
//			},
//			Hanging: func(t *testing.T, reached func()) map[string]any {
//				return options(plugintest.Hanging(t, reached))
//			},
//			Failing: triggertest.HTTPFailures(options),
//			Invalid: []triggertest.Invalid{{Field: "topic", Set: map[string]any{"topic": "a/b"}}},
//		})
//	}
//
//	func options(url string) map[string]any {
//		return map[string]any{"url": url, "topic": "updates", "token": "recognisable-token"}
//	}
//
// The checks are the subtests; a check that does not apply to a type is listed in Case.Skip:
//
//	describe    the description is stable and complete
//	options     unknown, missing and malformed options are refused by name
//	replace     an instance can be configured again
//	release     a released instance leaves nothing running behind
//	concurrent  one instance serves many calls at a time
//	cancel      a call whose context ends comes back
//	errors      failures are of the right kind
//	secrets     no secret option shows in an error, a log line, a warning or progress
//	probe       an instance that can be probed describes what responded
//	simple      one container, as an update and as a test message
//	batch       several containers, and a batch of one
//	fields      unicode, empty and very long texts are delivered
//	subscribe   a subscriber takes the changes of state and ends when it must
//
// A part of a check is named with it: "fields/empty", "errors/404".
//
// Give every secret option a recognisable value of at least six characters:
// the kit searches for it in whatever the trigger says during any of the checks.
package triggertest

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Case says how to exercise one type. Its functions are called once for each
// check that needs them; what they start ends with t.
type Case struct {
	// Options returns options of an instance whose deliveries succeed.
	Options func(t *testing.T) map[string]any
	// Hanging returns options of an instance whose Run calls reached, from
	// wherever it gets stuck, and then blocks until its context ends.
	Hanging func(t *testing.T, reached func()) map[string]any
	// Failing are the ways in which a delivery can fail.
	Failing []Failure
	// Invalid are mistakes in options that only the type's own code can see.
	Invalid []Invalid
	// Adapt changes each request before it is sent, for types that need
	// particular containers, credentials or engines.
	Adapt func(t *testing.T, req trigger.Request) trigger.Request
	// Skip names checks, or parts of checks, that do not apply to the type.
	Skip []string

	timeout time.Duration // shorter in this package's own tests
	// operates is whether the host takes operations from the type.
	operates bool
}

// Failure is one way in which a delivery can fail.
type Failure struct {
	Name    string
	Options func(t *testing.T) map[string]any
	// Kind is the kind that the error must have: a sentinel of package sdk, an
	// *sdk.InvalidError, or an *sdk.RateLimitedError, whose delay must be the
	// same unless it is 0. A nil Kind takes any error.
	Kind error
}

// Invalid are changes to valid options that Field is to blame for. A changed
// value of nil takes an option away.
type Invalid struct {
	Field string
	Set   map[string]any
}

// Run runs the checks as subtests of t.
func Run(t *testing.T, typ trigger.Type, c Case) {
	t.Helper()
	c.operates = slices.Contains(typ.Capabilities, kind.CapOperate)
	s := conform.Subject{
		Bundle: bundle(typ),
		Type:   typ.Type,
		Working: func(t *testing.T) conform.Situation {
			return c.situation(t, c.Options(t))
		},
		Skip:    c.Skip,
		Timeout: c.timeout,
	}
	if c.Hanging != nil {
		s.Hanging = func(t *testing.T, reached func()) conform.Situation {
			return c.situation(t, c.Hanging(t, reached))
		}
	}
	for _, f := range c.Failing {
		s.Failing = append(s.Failing, conform.Failure{Name: f.Name, Kind: f.Kind, Make: func(t *testing.T) conform.Situation {
			return c.situation(t, f.Options(t))
		}})
	}
	for _, i := range c.Invalid {
		s.Invalid = append(s.Invalid, conform.Invalid(i))
	}
	s.More = []conform.Check{
		{Name: "simple", Run: c.delivers("simple", simple())},
		{Name: "batch", Run: c.delivers("batch", batch())},
		{Name: "fields", Run: c.delivers("fields", odd())},
		{Name: "subscribe", Run: c.subscribe},
	}
	conform.Run(t, s)
}

// LeaksNothing delivers once with options, whether that works or not, and
// fails the test when a secret among them shows in the error, the log, a
// warning or the progress.
func LeaksNothing(t *testing.T, typ trigger.Type, options map[string]any) {
	t.Helper()
	s := conform.Subject{Bundle: bundle(typ), Type: typ.Type}
	in := Case{operates: slices.Contains(typ.Capabilities, kind.CapOperate)}.situation(t, options)
	p := conform.Start(t, s, in)
	_ = p.Call(t.Context(), in.Calls[0])
}

// HTTPFailures are the failures of a trigger that sends HTTP requests to the
// server at a URL, classified as package httpclient does.
func HTTPFailures(options func(url string) map[string]any) []Failure {
	var all []Failure
	for _, f := range append(conform.HTTPFailures(), conform.Responding(http.StatusBadRequest, &sdk.InvalidError{})) {
		all = append(all, Failure{f.Name, func(t *testing.T) map[string]any { return options(f.URL(t)) }, f.Kind})
	}
	return all
}

func bundle(typ trigger.Type) plugin.Bundle {
	return plugin.Bundle{Version: "test", Triggers: []trigger.Type{typ}}
}

// situation is one delivery with options.
func (c Case) situation(t *testing.T, options map[string]any) conform.Situation {
	return conform.Situation{Options: options, Calls: []conform.Call{c.delivery(t, Request("nginx"))}}
}

func (c Case) delivery(t *testing.T, req trigger.Request) conform.Call {
	if c.Adapt != nil {
		req = c.Adapt(t, req)
	}
	return conform.Call{Name: "run", Do: func(ctx context.Context, p *conform.Instance) error {
		for host, c := range req.Credentials {
			p.AddSecret("password for "+host, c.Password)
		}
		req := req.WithReport(func(step trigger.Progress) { p.Record("progress", step.Phase, step.Message) })
		if c.operates && !req.Test {
			req = req.WithOperate(func(trigger.OperationRequest) error { return nil })
		}
		return p.Client.Trigger(p.ID).Run(ctx, req)
	}}
}
