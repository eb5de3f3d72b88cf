package updater

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestRulesFromLabels(t *testing.T) {
	const wt = "com.centurylinklabs.watchtower."
	for _, test := range []struct {
		label, value string
		want         watcher.UpdateRules
	}{
		{"dogwatch.probe.http", "http://:8080/health", watcher.UpdateRules{
			Health: watcher.HealthGate{HTTP: "http://:8080/health"},
		}},
		{"dogwatch.probe.http", ":8080/health", watcher.UpdateRules{Health: watcher.HealthGate{HTTP: "http://:8080/health"}}},
		{"dogwatch.probe.tcp", " :5432 ", watcher.UpdateRules{Health: watcher.HealthGate{TCP: ":5432"}}},
		{"dogwatch.probe.command", "pg_isready -q", watcher.UpdateRules{
			Health: watcher.HealthGate{Command: []string{"sh", "-c", "pg_isready -q"}},
		}},
		{"dogwatch.probe.command", `["/ready", "now"]`, watcher.UpdateRules{
			Health: watcher.HealthGate{Command: []string{"/ready", "now"}},
		}},
		{"dogwatch.probe.command", "[ -f /ready ]", watcher.UpdateRules{
			Health: watcher.HealthGate{Command: []string{"sh", "-c", "[ -f /ready ]"}},
		}},
		{"dogwatch.probe.window", "2m", watcher.UpdateRules{Health: watcher.HealthGate{Window: 2 * time.Minute}}},
		{"dogwatch.probe.interval", "500", watcher.UpdateRules{Health: watcher.HealthGate{Interval: 500 * time.Millisecond}}},
		{"dogwatch.update.keep", "2", watcher.UpdateRules{Keep: 2}},
		{"dogwatch.update.acknowledge", "data.writable-layer, autoremove,", watcher.UpdateRules{
			Acknowledged: []string{"data.writable-layer", "autoremove"},
		}},
		{"dogwatch.update.stopsignal", "sigint", watcher.UpdateRules{StopSignal: "SIGINT"}},
		{"dogwatch.update.auto", "true", watcher.UpdateRules{}},
		{"dogwatch.hook.pre", "dump", watcher.UpdateRules{Hooks: watcher.Hooks{Pre: []string{"sh", "-c", "dump"}}}},
		{"dogwatch.hook.post", "load", watcher.UpdateRules{Hooks: watcher.Hooks{Post: []string{"sh", "-c", "load"}}}},
		{"dogwatch.hook.timeout", "30s", watcher.UpdateRules{Hooks: watcher.Hooks{Timeout: 30 * time.Second}}},
		{wt + "lifecycle.pre-update", "dump", watcher.UpdateRules{Hooks: watcher.Hooks{Pre: []string{"sh", "-c", "dump"}}}},
		{wt + "lifecycle.pre-update-timeout", "5", watcher.UpdateRules{Hooks: watcher.Hooks{Timeout: 5 * time.Minute}}},
		{wt + "stop-signal", "SIGHUP", watcher.UpdateRules{StopSignal: "SIGHUP"}},
		{"dd.rollback.window", "300000", watcher.UpdateRules{Health: watcher.HealthGate{Window: 5 * time.Minute}}},
		{"wud.probe.tcp", ":1", watcher.UpdateRules{}}, // which What's Up Docker does not have
	} {
		t.Run(test.label+"="+test.value, func(t *testing.T) {
			f := fresh(t)
			f.Runner.opt.Labels.Foreign = true
			c := container("web")
			c.Labels = map[string]string{test.label: test.value}
			got := f.rules(Watcher{Hooks: true}, Request{Container: c})
			if !reflect.DeepEqual(got.UpdateRules, test.want) || len(got.blocks)+len(got.warnings) > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestLabelsThatCannotBeReadAreBlocks(t *testing.T) {
	for label, values := range map[string][]string{
		"dogwatch.probe.http":         {"8080", "ftp://:1/", "http://", "http://[/"},
		"dogwatch.probe.tcp":          {"5432", ":", ":http", ":70000", ":0"},
		"dogwatch.probe.command":      {"[]", `[""]`},
		"dogwatch.probe.window":       {"soon", "0", "-1s", "2h"},
		"dogwatch.probe.interval":     {"1 minute"},
		"dogwatch.update.keep":        {"-1", "11", "all"},
		"dogwatch.update.acknowledge": {"Data", "a b"},
		"dogwatch.update.stopsignal":  {"SIG INT", "-9", "0", "999"},
		"dogwatch.update.auto":        {"never"},
		"dogwatch.hook.timeout":       {"0s"},
	} {
		for _, value := range values {
			f := fresh(t)
			c := container("web")
			c.Labels = map[string]string{label: value}
			plan, err := f.Plan(t.Context(), Request{Container: c, Kind: operation.Update})
			if label == "dogwatch.hook.timeout" { // hooks are off
				if err != nil || len(plan.Blocks) > 0 {
					t.Errorf("%v, %v", err, plan.Blocks)
				}
				got := f.rules(Watcher{Hooks: true}, Request{Container: c})
				plan.Blocks = got.blocks
			}
			if err != nil || len(plan.Blocks) != 1 || plan.Blocks[0].Code != BlockLabel ||
				!strings.HasPrefix(plan.Blocks[0].Text, "label "+label+": want ") {
				t.Errorf("%s=%s: %v, %v", label, value, err, plan.Blocks)
			}
		}
	}
}

func TestRequestAndWatcherBesideLabels(t *testing.T) {
	f := fresh(t)
	c := container("web")
	c.Labels = map[string]string{
		"dogwatch.probe.http": "http://:1/", "dogwatch.probe.window": "1m", "dogwatch.update.keep": "0",
		"dogwatch.update.acknowledge": "b",
		"dogwatch.hook.pre":           "dump", "dogwatch.update.stopsignal": "SIGINT",
	}
	wanted := watcher.UpdateRules{
		Health: watcher.HealthGate{TCP: ":2"}, Keep: 3, Acknowledged: []string{"a"}, StopSignal: "SIGHUP",
	}
	got := f.rules(Watcher{ID: "docker.local", Keep: 5, Prune: true}, Request{Container: c, Rules: wanted})
	want := watcher.UpdateRules{
		Health: watcher.HealthGate{TCP: ":2", Window: time.Minute}, Prune: true, Acknowledged: []string{"a", "b"},
		StopSignal: "SIGHUP",
	}
	if !reflect.DeepEqual(got.UpdateRules, want) {
		t.Errorf("%+v", got.UpdateRules)
	}
	if len(got.warnings) != 1 || got.warnings[0].Code != WarnHooks ||
		!strings.Contains(got.warnings[0].Text, "watcher.docker.local.hooks") {
		t.Errorf("hooks that are off: %v", got.warnings)
	}
	c.Labels = nil
	if got := f.rules(Watcher{Keep: 5}, Request{Container: c, Rules: wanted}); got.Keep != 5 {
		t.Errorf("keeps %d", got.Keep)
	}
}

func TestComposeFileOfOtherTools(t *testing.T) {
	f := fresh(t)
	f.Runner.opt.Labels.Foreign = true
	for label, want := range map[string]string{
		"dd.compose.file": "/a.yaml", "wud.compose.file": "/default.yaml", "dogwatch.compose.file": "/default.yaml",
	} {
		c := container("web")
		c.Labels = map[string]string{label: "/a.yaml"}
		wanted := &watcher.ComposeRules{File: "/default.yaml"}
		got := f.rules(Watcher{}, Request{Container: c, Rules: watcher.UpdateRules{Compose: wanted}})
		if got.Compose.File != want || wanted.File != "/default.yaml" {
			t.Errorf("%s: %+v, %+v", label, got.Compose, wanted)
		}
	}
}

func TestUpdateByHandOnly(t *testing.T) {
	f := fresh(t)
	f.Runner.opt.Labels.Foreign = true
	for _, label := range []string{"dogwatch.update.auto=false", "com.centurylinklabs.watchtower.monitor-only=true"} {
		name, value, _ := strings.Cut(label, "=")
		c := container("web")
		c.Labels = map[string]string{name: value}
		for _, test := range []struct {
			trigger, actor string
			blocked        bool
		}{{"docker.local", "", true}, {"docker.local", "ana", false}, {"", "ana", false}, {"", "", false}} {
			got := f.rules(Watcher{}, Request{Container: c, Trigger: test.trigger, Actor: test.actor})
			if blocked := len(got.blocks) == 1 && got.blocks[0].Code == BlockManual; blocked != test.blocked {
				t.Errorf("%s, %+v: %v", label, test, got.blocks)
			}
		}
	}
}

func TestDocumentationHasTheCodesOfLabels(t *testing.T) {
	text, err := os.ReadFile("../../../docs/updating-in-depth.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{BlockLabel, BlockManual, WarnHooks, WarnImage} {
		if !strings.Contains(string(text), fmt.Sprintf("`%s`", code)) {
			t.Errorf("docs/updating-in-depth.md does not explain %s", code)
		}
	}
}
