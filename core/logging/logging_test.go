package logging

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLevels(t *testing.T) {
	var out bytes.Buffer
	log, err := New(Options{Level: "WARN", Levels: []string{"plugin=debug", "plugin.noisy=error", "check=trace"}, Output: &out})
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

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]hclog.Level{
		"": hclog.Info, "trace": hclog.Trace, "Debug": hclog.Debug, "info": hclog.Info, "warn": hclog.Warn, "error": hclog.Error, "fatal": hclog.Error,
	} {
		if got, err := ParseLevel(text); err != nil || got != want {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
	for _, o := range []Options{{Level: "loud"}, {Levels: []string{"check"}, Level: "loud"}, {Levels: []string{"check=loud"}}, {Format: "xml"}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "use ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestJSON(t *testing.T) {
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
	if line["@module"] != "check" || line["@message"] != "asked" || line["host"] != Blank+".example.org" {
		t.Error(line)
	}
}
