//go:build unix

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/wireplugin"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// wired is a host with one wire plugin.
type wired struct {
	h   *Host
	s   *Supervisor
	log logBuffer
}

func newWired(t *testing.T, how string) *wired {
	w := &wired{}
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	opt.Log = hclog.New(&hclog.LoggerOptions{Output: &w.log, Level: hclog.Debug, JSONFormat: true})
	wireplugin.Write(t, opt.Dir, "mine", how)
	w.h = newHost(t, opt)
	must(t, w.h.Discover(t.Context()))
	w.s, _ = w.h.Bundle("mine")
	return w
}

// env is what the plugin found in its environment.
func (w *wired) env(t *testing.T, name string) string {
	_, described, found := w.h.Find(kind.Trigger, "wire")
	if !found {
		t.Fatal(w.h.Unusable())
	}
	_, after, _ := strings.Cut("\n"+described.Summary, "\n"+name+"=")
	value, _, _ := strings.Cut(after, "\n")
	return value
}

func (w *wired) set(t *testing.T, options map[string]any) error {
	_, err := configure(t, w.h, pluginclient.Instance{
		ID: "trigger.wire.main", Kind: kind.Trigger, Type: "wire", Options: options,
	})
	return err
}

// run has the plugin do what title says.
func (w *wired) run(ctx context.Context, title string) error {
	return w.s.Trigger("trigger.wire.main").Run(ctx, trigger.Request{Title: title})
}

// ready is a plugin with its instance.
func ready(t *testing.T, how string) *wired {
	w := newWired(t, how)
	must(t, w.set(t, nil))
	return w
}

func refused(how string, state State, reason string) func(*testing.T) {
	return func(t *testing.T) {
		w := newWired(t, how)
		eventually(t, string(state), func() bool { return w.s.Status().State == state })
		if got := w.s.Status().Error; !strings.Contains(got, reason) {
			t.Errorf("reason is %q, want %q in it", got, reason)
		}
	}
}

func works(how string) func(*testing.T) {
	return func(t *testing.T) { must(t, ready(t, how).run(t.Context(), "")) }
}

func finds(name string, right func(string) bool) func(*testing.T) {
	return func(t *testing.T) {
		if got := newWired(t, "x").env(t, name); !right(got) {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func hasPEM(text string) bool { return strings.HasPrefix(text, "-----BEGIN ") }

// elsewhere is a proof by another test, which has to be in the file.
func elsewhere(file, test string) func(*testing.T) {
	return func(t *testing.T) {
		text, err := os.ReadFile(file)
		must(t, err)
		if !strings.Contains(string(text), "\nfunc "+test+"(") {
			t.Errorf("%s has no %s", file, test)
		}
	}
}

// sentencesOf returns the items of lists and the sentences of paragraphs in a page.
func sentencesOf(page string) (all []string) {
	paragraph := ""
	end := func() {
		for paragraph != "" {
			at := strings.Index(paragraph, ". ")
			if at < 0 {
				at = len(paragraph) - 1
			}
			all = append(all, strings.TrimSpace(paragraph[:at]))
			paragraph = strings.TrimSpace(paragraph[at+1:])
		}
	}
	for _, line := range strings.Split(page, "\n") {
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case isItem:
			end()
			all = append(all, item)
		case line == "" || strings.HasPrefix(line, "#"):
			end()
		default:
			paragraph += line + " "
		}
	}
	end()
	return all
}

// TestOtherLanguages proves each sentence of docs/plugins-other-languages.md, named here by
// its beginning, with a plugin that is written from that page or by the test that is named.
func TestOtherLanguages(t *testing.T) {
	sentences := map[string]func(*testing.T){
		"A plugin is any executable":             works("x"),
		"For JavaScript and Python a helper":     elsewhere("../../cmd/e2e/scaffold_test.go", "TestNewPlugins"),
		"[`examples/trigger-node`]":              elsewhere("examples_test.go", "TestExamplesInOtherLanguages"),
		"For another language, this page":        works("x"), // whose plugin is written from it
		"`dogwatch plugin verify FILE` checks":   elsewhere("verify/verify_test.go", "TestBrokenPlugins"),
		"The protos are in one folder":           protosAreThere,
		"What a plugin writes to stderr":         elsewhere("startfailure_test.go", "TestStartFailureIsExplained"),
		"With the simple way there is no":        works("x"), // which makes none
		"Remove the key from":                    elsewhere("examples_test.go", "TestHelpersByHand"),
		"A trigger whose messages people":        elsewhere("component/component_test.go", "TestEventsByDefault"),
		"A watcher with the capability `labels`": elsewhere("labels_test.go", "TestLabelsOfUnknownOrigin"),
		"Of a watcher without it":                elsewhere("labels_test.go", "TestLabelsOfUnknownOrigin"),
		"A watcher with the capability `watch`":  elsewhere("verify/verify_test.go", "TestBrokenPlugins"),
		"One that answers `UNIMPLEMENTED`":       elsewhere("verify/verify_test.go", "TestWatcherWithoutEvents"),
		"A watcher with the capability `logs`":   elsewhere("component/logs_test.go", "TestLogsAreAllowedByOption"),
		"A watcher with the capability `pullsecrets`": elsewhere("component/pullsecrets_test.go",
			"TestPullSecretsAreUsedByOption"),
		"A registry gets what it returns": elsewhere("../../plugins/registries/internal/oci/pullsecrets_test.go",
			"TestCredentialsOfImage"),
		"It answers `NOT_FOUND` for": elsewhere("../../sdk/watchertest/watchertest_test.go", "TestRunFailsInvalidTypes"),
		"Details travel as":          itsUnavailable,
		"A call to a registry may end with the trailer": elsewhere("../../sdk/plugin/requests_test.go",
			"TestRegistryReportsRequests"),
		"The trailer `dogwatch-load` says how many": elsewhere("../../sdk/plugin/requests_test.go",
			"TestRegistryReportsLoad"),
		"Failed calls have it, too": elsewhere("../../sdk/plugin/requests_test.go",
			"TestRegistryReportsRequests"),
		"Budgets are kept by it": elsewhere("../../internal/budget/report_test.go",
			"TestDoneCountsWhatWasMade"),
		"`Limit.pulls` says that": elsewhere("../../internal/budget/report_test.go",
			"TestPullsAreNoRequests"),
		"A registry of such a host may have the": elsewhere("../watch/check/describe_test.go", "TestDescribedDigest"),
		"Dogwatch blanks the secrets":            elsewhere("startfailure_test.go", "TestStartFailureBlanksSecrets"),
		"When Dogwatch is killed": elsewhere("orphan_test.go",
			"TestKilledHostLeavesNoOrphansAndItsRunDirIsRemoved"),
		"Elsewhere a plugin has to look": elsewhere("../../sdk/plugin/orphan_test.go",
			"TestOrphanedNoticesNewParent"),
		"A `SIGKILL` of the plugin": elsewhere("plugin_test.go", "TestKilledPluginRestartsAtOnce"),
		"Dogwatch sets `DOGWATCH_PLUGIN=6f3d0c1a-watch`": finds("DOGWATCH_PLUGIN", func(v string) bool {
			return v == "6f3d0c1a-watch"
		}),
		"`PLUGIN_PROTOCOL_VERSIONS` lists": finds("PLUGIN_PROTOCOL_VERSIONS", func(v string) bool {
			return slices.Contains(strings.Split(v, ","), "1")
		}),
		"`PLUGIN_UNIX_SOCKET_DIR` is": finds("PLUGIN_UNIX_SOCKET_DIR", func(v string) bool {
			return filepath.IsAbs(v) && len(v)+1+20 <= 107 && maxSocketDir+1+20 <= 107
		}),
		"The first line on stdout is": refused("greets", Rejected, `its first line on stdout is "hello"`),
		"What runs in such a language": elsewhere("startfailure_test.go",
			"TestStartFailureIsExplained"),
		"What follows on stdout is logged": elsewhere("stdout_test.go", "TestGarbageOnStdout"),
		"The line has to come": func(t *testing.T) {
			if startTimeout != 10*time.Second {
				t.Errorf("it is %s", startTimeout)
			}
		},
		"A plugin that answers with another protocol": refused("protocol-2", Rejected,
			"update Dogwatch, or install an older version of the plugin"),
		"The simple way": func(t *testing.T) {
			finds("PLUGIN_CLIENT_CERT", hasPEM)(t)
			finds("DOGWATCH_PLUGIN_KEY", hasPEM)(t)
			works("x")(t)
		},
		"The other way": func(t *testing.T) {
			works("auto-mtls")(t)
			refused("auto-mtls other-name", Broken, "not localhost")(t)
		},
		"`CERT` is":                             refused("auto-mtls padded", Rejected, "error parsing server cert"),
		"A plugin that serves without TLS":      refused("no-tls", Broken, "with the certificate that it was given"),
		"`grpc.health.v1.Health/Check` answers": refused("no-health", Rejected, "must serve grpc.health.v1.Health"),
		"`plugin.GRPCController/Shutdown` is":   shutsDown,
		"Other services of go-plugin":           works("x"), // it has none of them
		"An answer that exceeds the [bounds]":   elsewhere("bounds_test.go", "TestListBeyondItsBoundsFails"),
		"`Configure` has the options":           optionsInStruct,
		"A whole number beyond 2^53":            optionsInStruct,
		"With `validate_only`":                  validatesOnly,
		"`INVALID_ARGUMENT` with":               namesOption,
		"`FAILED_PRECONDITION` means": func(t *testing.T) {
			w := ready(t, "x")
			must(t, w.run(t.Context(), "forget"))
			must(t, w.run(t.Context(), "again"))
		},
		"`UNAVAILABLE` with an":          itsUnavailable,
		"`UNAVAILABLE` without it":       losesConnection,
		"The key `remedy`":               itsUnavailable,
		"`UNAUTHENTICATED`, `NOT_FOUND`": kindsOfErrors,
		"A line of JSON on stderr":       logs(`{"@level":"warn","@message":"it blinked","@module":"trigger.wire.main","@timestamp":"2026-01-02T15:04:05.000000Z","lamp":"red"}`, map[string]string{"@level": "warn", "@message": "it blinked", "@module": "trigger.wire.main", "lamp": "red"}),
		"The timestamp is":               logs(`{"@level":"warn","@message":"it blinked","@timestamp":"2026-01-02T15:04:05.000Z"}`, map[string]string{"@level": "info", "@message": `{"@level":"warn","@message":"it blinked","@timestamp":"2026-01-02T15:04:05.000Z"}`}),
		"Any other line is text": logs("it blinked",
			map[string]string{"@level": "info", "@message": "it blinked"}),
		"A call that is given up": cancels,
	}
	body, err := os.ReadFile("../../docs/plugins-other-languages.md")
	must(t, err)
	left := 0
	for _, sentence := range sentencesOf(string(body)) {
		left++
		proven := false
		for begin, prove := range sentences {
			if strings.HasPrefix(sentence, begin) {
				proven = true
				t.Run(begin, func(t *testing.T) { t.Parallel(); prove(t) })
			}
		}
		if !proven {
			t.Errorf("no test proves %q", sentence)
		}
	}
	if left != len(sentences) {
		t.Errorf("the page has %d sentences and the table %d", left, len(sentences))
	}
}

// protosAreThere: the folder has what the page names, and each service that is needed.
func protosAreThere(t *testing.T) {
	for name, service := range map[string]string{
		"plugin": "Component", "health": "Health", "controller": "GRPCController", "details": "",
	} {
		text, err := os.ReadFile("../../sdk/proto/v1/" + name + ".proto")
		must(t, err)
		if service != "" && !strings.Contains(string(text), "service "+service+" {") {
			t.Errorf("%s.proto has no service %s", name, service)
		}
	}
}

func shutsDown(t *testing.T) {
	for how, killed := range map[string]bool{"x": false, "stays": true} {
		w := ready(t, how)
		pid := w.s.Status().PID
		w.h.Close()
		if running(pid) || strings.Contains(w.log.String(), "failed to exit gracefully") != killed {
			t.Errorf("%s: runs %v, the log is %s", how, running(pid), w.log.String())
		}
	}
}

func optionsInStruct(t *testing.T) {
	w := newWired(t, "x")
	must(t, w.set(t, map[string]any{
		"text": "a", "wait": 90 * time.Second, "list": []string{"a", "b"}, "count": int64(7), "whole": int64(1<<53 + 1),
		"on": true,
	}))
	err := w.run(t.Context(), "options")
	if want := `{"count":7,"list":["a","b"],"on":true,"text":"a","wait":"1m30s","whole":"9007199254740993"}`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func validatesOnly(t *testing.T) {
	w := ready(t, "x")
	p, err := w.s.running(t.Context(), nil, noRetry)
	must(t, err)
	got, err := p.client.Configure(t.Context(), pluginclient.Instance{
		ID: "trigger.wire.main", Kind: kind.Trigger, Type: "wire", ValidateOnly: true,
		Options: map[string]any{"text": "other"},
	})
	if err != nil || len(got.Warnings) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := w.run(t.Context(), "options"); err == nil || strings.Contains(err.Error(), "other") {
		t.Errorf("options are %v", err)
	}
}

func namesOption(t *testing.T) {
	var invalid *sdk.InvalidError
	if err := newWired(t, "x").set(t, map[string]any{"do": "refuse"}); !errors.As(err, &invalid) ||
		invalid.Fields[0].Field != "do" {
		t.Errorf("error is %v", err)
	}
}

func itsUnavailable(t *testing.T) {
	w := ready(t, "x")
	before := w.s.Status().PID
	err := w.run(t.Context(), "answered")
	if !errors.Is(err, sdk.ErrUnavailable) || Exited(err) || sdk.Remedy(err) != "ask otherwise" ||
		w.s.Status().PID != before {
		t.Errorf("error is %v, remedy %q", err, sdk.Remedy(err))
	}
}

func losesConnection(t *testing.T) {
	w := ready(t, "x")
	before := w.s.Status().PID
	if err := w.run(t.Context(), "Unavailable"); !Exited(err) {
		t.Errorf("error is %v", err)
	}
	eventually(t, "replaced", func() bool { pid := w.s.Status().PID; return pid != 0 && pid != before })
}

func kindsOfErrors(t *testing.T) {
	w := ready(t, "x")
	for code, want := range map[string]error{
		"Unauthenticated": sdk.ErrUnauthorized, "PermissionDenied": sdk.ErrUnauthorized, "NotFound": sdk.ErrNotFound,
		"Unimplemented": sdk.ErrUnsupported,
	} {
		if err := w.run(t.Context(), code); !errors.Is(err, want) {
			t.Errorf("%s: %v", code, err)
		}
	}
	err := w.run(t.Context(), "DataLoss")
	for _, kind := range []error{sdk.ErrUnauthorized, sdk.ErrNotFound, sdk.ErrUnsupported, sdk.ErrUnavailable} {
		if err == nil || errors.Is(err, kind) {
			t.Errorf("DataLoss: %v", err)
		}
	}
}

// logs: what the plugin writes to stderr becomes an entry with these values.
func logs(line string, want map[string]string) func(*testing.T) {
	return func(t *testing.T) {
		w := ready(t, "x")
		must(t, w.run(t.Context(), "log "+line))
		eventually(t, "the line", func() bool {
			for _, text := range strings.Split(w.log.String(), "\n") {
				entry := map[string]any{}
				_ = json.Unmarshal([]byte(text), &entry)
				same := true
				for key, value := range want {
					same = same && entry[key] == value
				}
				if same {
					return true
				}
			}
			return false
		})
	}
}

func cancels(t *testing.T) {
	w := ready(t, "x")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx, "hang") }()
	eventually(t, "the call is under way", func() bool { return strings.Contains(w.log.String(), "hangs now") })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	eventually(t, "the plugin noticed", func() bool { return strings.Contains(w.log.String(), "was cancelled") })
}
