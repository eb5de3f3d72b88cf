package logging

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/redact"
)

func TestLevelsByComponent(t *testing.T) {
	var out bytes.Buffer
	log, err := New(Options{
		Level: "WARN", Levels: []string{"plugin=debug", "plugin.noisy=error", "check=trace"}, Output: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]hclog.Level{
		"": hclog.Warn, "store": hclog.Warn, "check": hclog.Trace, "checks": hclog.Warn,
		"plugin": hclog.Debug, "plugin.triggers": hclog.Debug, "plugin.noisy": hclog.Error, "plugin.noisy.more": hclog.Error,
	} {
		l := log
		if name != "" {
			l = log.ResetNamed(name)
		}
		if got := l.With("a", "b").GetLevel(); got != want {
			t.Errorf("%q has level %s, want %s", name, got, want)
		}
	}
	log.Named("plugin").Named("triggers").Debug("yes")
	log.Named("store").Info("no")
	if got := out.String(); !strings.Contains(got, "[DEBUG] plugin.triggers: yes\n") || strings.Contains(got, "no\n") {
		t.Error(got)
	}
}

// TestLevelAtRunTime: the level of the root is that of everything that was and
// will be made from it, but for what has a level of its own.
func TestLevelAtRunTime(t *testing.T) {
	var out bytes.Buffer
	log, err := New(Options{Levels: []string{"check=warn", "check.loud=trace"}, Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	store, check, loud := log.Named("store").With("a", 1), log.Named("check"),
		log.Named("check").With("b", 2).Named("loud")
	std := store.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	say := func() string {
		out.Reset()
		for _, l := range []hclog.Logger{log, store, check, loud, log.Named("new"),
			check.ResetNamed("plugin").Named("trigger")} {
			l.Debug("said")
		}
		std.Print("standard")
		var said []string
		for line := range strings.Lines(out.String()) {
			_, line, _ = strings.Cut(line, "[DEBUG] ")
			said = append(said, strings.TrimSuffix(line, "\n"))
		}
		return strings.Join(said, "; ")
	}
	for _, step := range []struct {
		level hclog.Level
		want  string
	}{
		{hclog.Info, "check.loud: said: b=2"},
		{hclog.Debug, "said; store: said: a=1; check.loud: said: b=2; new: said; plugin.trigger: said; store: standard: a=1"},
		{hclog.Warn, "check.loud: said: b=2"},
	} {
		log.SetLevel(step.level)
		if got := say(); got != step.want {
			t.Errorf("%s: %s", step.level, got)
		}
		for _, l := range []hclog.Logger{log, store, log.Named("new"), loud.ResetNamed("later")} {
			if l.GetLevel() != step.level {
				t.Errorf("%q has level %s, want %s", l.Name(), l.GetLevel(), step.level)
			}
		}
	}
}

// TestLevelWhileOthersLog is for the race detector.
func TestLevelWhileOthersLog(t *testing.T) {
	var out bytes.Buffer
	log, err := New(Options{Levels: []string{"check=debug"}, Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 200 {
				if log.SetLevel(hclog.Debug); i == 0 {
					log.SetLevel(hclog.Info)
				}
				log.Named("store").Info("one")
				log.Named("store").Named("x").ResetNamed("check").With("i", i).Debug("two")
			}
		})
	}
	all.Wait()
	if got, want := strings.Count(out.String(), "\n"), 4*200*2; got != want {
		t.Errorf("%d whole lines, want %d", got, want)
	}
}

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]hclog.Level{
		"": hclog.Info, "trace": hclog.Trace, "Debug": hclog.Debug, "info": hclog.Info, "warn": hclog.Warn,
		"error": hclog.Error, "fatal": hclog.Error,
	} {
		if got, err := ParseLevel(text); err != nil || got != want {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
	for _, o := range []Options{{Level: "loud"}, {Levels: []string{"check"}, Level: "loud"}, {
		Levels: []string{"check=loud"},
	}, {Format: "xml"}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "use ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestJSONIsRedacted(t *testing.T) {
	var out bytes.Buffer
	r := &Redactor{}
	r.Add("hunter2")
	log, err := New(Options{Format: "json", Output: &out, Redactor: r})
	if err != nil {
		t.Fatal(err)
	}
	log.Named("check").Info("asked", "host", "hunter2.example.org")
	var line map[string]string
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err, out.String())
	}
	if line["@module"] != "check" || line["@message"] != "asked" || line["host"] != redact.Blank+".example.org" {
		t.Error(line)
	}
}
