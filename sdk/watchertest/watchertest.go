// Package watchertest checks that a watcher keeps the promises of package
// watcher, by serving it over real gRPC as a plugin is served. Its author
// brings a fake engine that works, one that hangs, and ones that fail.
//
//	func TestConformance(t *testing.T) {
//		watchertest.Run(t, docker.Type(), watchertest.Case{
//			Working: func(t *testing.T) watchertest.Engine {
//				e := newFakeEngine(t)
//				return watchertest.Engine{Options: map[string]any{"host": e.URL}, Containers: 3, Change: e.emit}
//			},
//			Hanging: func(t *testing.T, reached func()) map[string]any {
//				return map[string]any{"host": plugintest.Hanging(t, reached)}
//			},
//			Failing: []watchertest.Failure{{Name: "unreachable", Kind: sdk.ErrUnavailable, Options: …}},
//		})
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
//	probe       an instance that can be probed describes what responded
//	secrets     no secret option shows in an error, a log line or a warning
//	list        containers are complete, unique and the same when asked again, and
//	            ImageLabels names labels that they have, sorted
//	watch       a change in the engine is emitted, and watching ends with its context,
//	            with its instance and when the instance is configured anew
//	log         a watcher that reads logs returns no more lines than asked for, without control
//	            characters, and knows a container that does not exist
//
// A part of a check is named with it: "errors/unreachable". Give every secret
// option a recognisable value of at least six characters: the kit searches for
// it in whatever the watcher says during any of the checks.
package watchertest

import (
	"context"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/internal/conform"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Case says how to exercise one type. Its functions are called once for each
// check that needs them; what they start ends with t.
type Case struct {
	// Working returns an engine that works.
	Working func(t *testing.T) Engine
	// Hanging returns options of an instance whose List calls reached, from
	// wherever it gets stuck, and then blocks until its context ends.
	Hanging func(t *testing.T, reached func()) map[string]any
	// Failing are the ways in which List can fail.
	Failing []Failure
	// Invalid are mistakes in options that only the type's own code can see.
	Invalid []Invalid
	// Skip names checks, or parts of checks, that do not apply to the type.
	Skip []string

	timeout time.Duration // shorter in this package's own tests
}

// Engine is an engine that works and the options with which it is watched.
type Engine struct {
	Options map[string]any
	// Containers is how many containers List finds.
	Containers int
	// Change waits until the watcher listens to the engine's events and makes one
	// happen. It is needed for types that emit events.
	Change func()
}

// Failure is one way in which List can fail.
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
func Run(t *testing.T, typ watcher.Type, c Case) {
	t.Helper()
	s := conform.Subject{
		Bundle: plugin.Bundle{Version: "test", Watchers: []watcher.Type{typ}},
		Type:   typ.Type,
		Working: func(t *testing.T) conform.Situation {
			return situation(c.Working(t).Options)
		},
		Skip:    c.Skip,
		Timeout: c.timeout,
	}
	if c.Hanging != nil {
		s.Hanging = func(t *testing.T, reached func()) conform.Situation {
			return situation(c.Hanging(t, reached))
		}
	}
	for _, f := range c.Failing {
		s.Failing = append(s.Failing, conform.Failure{Name: f.Name, Kind: f.Kind, Make: func(t *testing.T) conform.Situation {
			return situation(f.Options(t))
		}})
	}
	for _, i := range c.Invalid {
		s.Invalid = append(s.Invalid, conform.Invalid(i))
	}
	s.More = []conform.Check{{Name: "list", Run: c.list}, {Name: "watch", Run: c.watch}, {Name: "log", Run: c.log}}
	conform.Run(t, s)
}

func situation(options map[string]any) conform.Situation {
	return conform.Situation{Options: options, Calls: []conform.Call{{
		Name: "list",
		Do: func(ctx context.Context, p *conform.Instance) error {
			_, err := p.Client.Watcher(p.ID).List(ctx)
			return err
		},
	}}}
}
