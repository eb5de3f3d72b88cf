package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/verify"
	"github.com/dogwatch/dogwatch/internal/wireplugin"
)

func TestMain(m *testing.M) {
	if os.Getenv(wireplugin.Variable) != "" {
		os.Exit(wireplugin.Main())
	}
	os.Exit(m.Run())
}

func run(t *testing.T, file string) verify.Report {
	t.Helper()
	exe, err := os.Executable() // which the script of a wire plugin starts
	if err != nil {
		t.Fatal(err)
	}
	isolation := plugin.Isolation{Paths: map[string][]string{"trigger-wire": {filepath.Dir(exe)}}}
	report, err := verify.Run(t.Context(), verify.Options{File: file, Isolation: isolation})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// of returns the result of a check; the worst of several.
func of(r verify.Report, check string) (found verify.Result) {
	for _, c := range r.Results {
		if c.Check == check && found.Verdict != verify.Failed {
			found = c
		}
	}
	return found
}

func TestGoodPlugin(t *testing.T) {
	for how, want := range map[string]struct {
		typ    string
		checks int
	}{
		"serves":                         {"trigger.wire", 14},
		"serves auto-mtls":               {"trigger.wire", 14},
		"serves watcher":                 {"watcher.wire", 16},
		"serves watcher waits as-go-sdk": {"watcher.wire", 16},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := run(t, wireplugin.Write(t, t.TempDir(), "trigger-wire", how))
			if !r.OK() || len(r.Results) != want.checks || len(r.Types) != 1 || r.Types[0] != want.typ ||
				len(r.SHA256) != 64 {
				t.Errorf("%+v", r)
			}
			for _, c := range r.Results {
				if c.Verdict != verify.OK {
					t.Errorf("%s is %s: %s", c.Check, c.Verdict, c.Text)
				}
			}
		})
	}
}

// TestWatcherWithoutEvents has watchers that follow no events, each in its way.
func TestWatcherWithoutEvents(t *testing.T) {
	for _, how := range []string{"no-events", "forgets", "no-events unannounced"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := run(t, wireplugin.Write(t, t.TempDir(), "trigger-wire", "serves watcher "+how))
			watch, end := of(r, "watch"), of(r, "watch end")
			if !r.OK() || watch.Verdict != verify.OK || watch.Text != "it does not follow events" ||
				end.Verdict != verify.Skipped {
				t.Errorf("watch is %+v, its end %+v", watch, end)
			}
		})
	}
}

// TestWatcherWithoutRequests has watchers that wait without a request: one that stops when the
// call is cancelled, and one that goes on until the process ends. From outside both are the same.
func TestWatcherWithoutRequests(t *testing.T) {
	for _, how := range []string{"waits", "waits-for-shutdown"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := run(t, wireplugin.Write(t, t.TempDir(), "trigger-wire", "serves watcher "+how))
			watch, end := of(r, "watch"), of(r, "watch end")
			if !r.OK() || watch.Verdict != verify.OK || end.Verdict != verify.Skipped ||
				!strings.Contains(end.Text, "cannot be seen from outside") {
				t.Errorf("watch is %+v, its end %+v", watch, end)
			}
		})
	}
}

// TestBrokenPlugins has a plugin for each way of being broken, and wants it to be
// named, with a remedy, by the check that is about it.
func TestBrokenPlugins(t *testing.T) {
	t.Parallel()
	remedies := map[string]string{
		"serves type-unknown": "string, int, float, bool, duration, url, list",
		"serves no-help":      "users read this in plugin describe",

		"serves describes-nan":       "answer within the bounds",
		"serves watcher lists-50000": "answer within the bounds",

		"serves watcher stumbles":         "answer UNIMPLEMENTED",
		"serves watcher unannounced":      "describe it with the capability watch",
		"serves watcher clings-to-events": "return from Watch when gRPC cancels it",
		"serves watcher waits-forever":    "return from Watch when gRPC cancels it",

		"serves watcher waits-for-shutdown as-go-sdk": "return from Watch when gRPC cancels it",
	}
	for how, want := range map[string]struct{ check, text string }{
		"greets":                    {"handshake", `its first line on stdout is "hello"`},
		"protocol-2":                {"handshake", "update Dogwatch, or install an older version"},
		"exits":                     {"handshake", "it wrote to stderr: the lamp is missing"},
		"panics":                    {"handshake", "panic: no lamp"},
		"auto-mtls padded":          {"handshake", "error parsing server cert"},
		"auto-mtls other-name":      {"tls", "not localhost"},
		"no-tls":                    {"tls", "with the certificate that it was given"},
		"serves any-client":         {"tls", "clients that do not show the certificate"},
		"no-health":                 {"health", "must serve grpc.health.v1.Health"},
		"holds-nothing":             {"describe", "it holds no types"},
		"serves no-summary":         {"describe", "it has no summary"},
		"serves named-wrong":        {"describe", `its name is "Wire!"`},
		"serves of-no-kind":         {"describe", `its kind is "lamp"`},
		"serves delivers-twice":     {"describe", `its guarantee is "twice"`},
		"serves no-help":            {"describe", "option url: it has no help text"},
		"serves option-named-wrong": {"describe", `option "The URL"`},
		"serves open-token":         {"describe", "option token: it is not marked as a secret"},
		"serves default-wrong":      {"describe", `option level: its default "a lot" does not fit`},
		"serves type-unknown":       {"describe", `its type is "colour"`},
		"serves twice":              {"describe", "it is held twice"},
		"serves strict":             {"unknown fields", "a field that it does not know"},
		"serves fickle":             {"unknown fields", "otherwise the second time"},
		"serves stays":              {"shutdown", "was killed"},
		"serves forks":              {"shutdown", "processes that it started still ran"},
		"serves nameless":           {"options", `without its required option url it answered "nil pointer"`},
		"serves refuses":            {"configure", "not this way"},
		"serves keeps":              {"configure", "only validated can be used"},
		"serves sleeps":             {"call", "did not answer within 10s"},
		"serves optimist":           {"errors", "reports success, though the server answered 500"},
		"serves kindless":           {"errors", "the error has no kind"},
		"serves deaf":               {"cancel", "its request went on"},
		"serves clings":             {"release", "no such instance"},
		"serves leaks":              {"secrets", "the value of a secret option"},
		"serves quotes":             {"secrets", "the value of a secret option"},

		"serves describes-nan": {"describe", "types[0].options[0].min is no finite number"},
		"serves watcher lists-50000": {"call",
			"what the plugin answered to Watcher.List is refused: it occupies more than 48 MiB"},

		"serves watcher stumbles":         {"watch", "the error has no kind"},
		"serves watcher unannounced":      {"watch", "does not have the capability watch"},
		"serves watcher clings-to-events": {"watch end", "after the host had given up watching, its request went on"},
		"serves watcher waits-forever":    {"watch end", "after the host had given up watching it did not end by itself"},

		"serves watcher waits-for-shutdown as-go-sdk": {"watch end", "released after the host had given up watching"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := run(t, wireplugin.Write(t, t.TempDir(), "trigger-wire", how))
			got := of(r, want.check)
			if r.OK() || got.Verdict != verify.Failed || !strings.Contains(got.Text, want.text) {
				t.Errorf("%s is %s: %s; want %q", want.check, got.Verdict, got.Text, want.text)
			}
			if remedy := remedies[how]; !strings.Contains(got.Remedy, remedy) {
				t.Errorf("the remedy is %q, want %q in it", got.Remedy, remedy)
			}
			for _, c := range r.Results {
				if c.Verdict == verify.Failed && c.Check != want.check {
					t.Errorf("%s failed, too: %s", c.Check, c.Text)
				}
			}
		})
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"plain":    {"#!/bin/sh\n", 0o644, "not executable"},
		"open":     {"#!/bin/sh\n", 0o777, "can be changed by others"},
		"document": {"A text\n", 0o755, "no program for"},
		"orphan":   {"#!/no/such/interpreter\n", 0o755, "the interpreter in the first line"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		r := run(t, path)
		if last := r.Results[len(r.Results)-1]; r.OK() ||
			!strings.Contains(of(r, "file").Text+of(r, "handshake").Text, c.want) {
			t.Errorf("%s: %+v", name, last)
		}
	}
	if r := run(t, filepath.Join(dir, "missing")); r.OK() {
		t.Error("a file that is not there is well")
	}
}
