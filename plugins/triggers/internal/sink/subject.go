package sink

import (
	"maps"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/golden"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// Subject is a trigger type under test, with a fake of its service.
type Subject struct {
	Type trigger.Type
	// Options returns those of an instance that delivers to a service at url.
	Options func(url string) map[string]any
	// Service starts the fake service, which refuses what the real one refuses.
	Service func(t testing.TB) *Sink
	// Show is what golden files have of a call; nil for Call.Pretty.
	Show func(t *testing.T, c Call) string
}

// With returns the subject with other options. A value of nil takes an option away.
func (s Subject) With(set map[string]any) Subject {
	options := s.Options
	s.Options = func(url string) map[string]any {
		all := maps.Clone(options(url))
		maps.Copy(all, set)
		maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
		return all
	}
	return s
}

// At returns the subject with a service whose address goes on with path.
func (s Subject) At(path string) Subject {
	options := s.Options
	s.Options = func(url string) map[string]any { return options(url + path) }
	return s
}

// Working returns options of an instance whose service runs until the end of t.
func (s Subject) Working(t *testing.T) map[string]any { return s.Options(s.Service(t).URL) }

// Case returns the case of the conformance kit for a type that uses HTTP.
func (s Subject) Case(invalid []triggertest.Invalid) triggertest.Case {
	return triggertest.Case{
		Options: s.Working,
		Hanging: func(t *testing.T, reached func()) map[string]any { return s.Options(plugintest.Hanging(t, reached)) },
		Failing: triggertest.HTTPFailures(s.Options),
		Invalid: invalid,
	}
}

// Send delivers a request, which the service must take, and returns how it arrived.
func (s Subject) Send(t *testing.T, req trigger.Request) Call {
	t.Helper()
	service := s.Service(t)
	if err := Deliver(t, s.Type, s.Options(service.URL), req); err != nil {
		t.Fatal(err)
	}
	return service.Last(t)
}

// Payloads delivers each of golden.Requests and compares what arrives with a
// file in testdata: files is the name of them all, with * for that of the
// request. More checks may look at the call.
func (s Subject) Payloads(t *testing.T, files string, checks ...func(*testing.T, Call, trigger.Request)) {
	t.Helper()
	show := s.Show
	if show == nil {
		show = func(t *testing.T, c Call) string { return c.Pretty(t) }
	}
	for name, req := range golden.Requests() {
		file := strings.ReplaceAll(files, "*", name)
		t.Run(file, func(t *testing.T) {
			call := s.Send(t, req)
			golden.Check(t, file, show(t, call))
			for _, check := range checks {
				check(t, call, req)
			}
		})
	}
}

// First shows no more than n bytes of a body, as indented JSON: see Subject.Show.
func First(n int) func(*testing.T, Call) string {
	return func(t *testing.T, c Call) string {
		t.Helper()
		text := c.Pretty(t)
		if len(text) <= n {
			return text
		}
		return text[:n] + "…\n"
	}
}

// Body is what arrives when options are set. An empty URI or Want is not compared.
type Body struct {
	Set       map[string]any
	URI, Want string
}

// Bodies delivers a request with other options each time, and compares what arrives.
func (s Subject) Bodies(t *testing.T, req trigger.Request, bodies map[string]Body) {
	t.Helper()
	for name, test := range bodies {
		t.Run(name, func(t *testing.T) {
			got := s.With(test.Set).Send(t, req)
			if test.URI != "" && got.URI != test.URI {
				t.Errorf("at %s, want %s", got.URI, test.URI)
			}
			if test.Want != "" && string(got.Body) != test.Want {
				t.Errorf("%s\nwant %s", got.Body, test.Want)
			}
		})
	}
}
