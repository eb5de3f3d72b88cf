package component

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestReferencesAreChecked: of every option that names a component.
func TestReferencesAreChecked(t *testing.T) {
	schema := option.Schema{{Name: "hass.install", Type: option.String, Refers: "trigger"},
		{Name: "note", Type: option.String}}
	trigger := func(name string, values option.Values) *Trigger {
		section := config.Component{Kind: kind.Trigger, Type: "docker", Name: name}
		return &Trigger{Component: Component{Kind: kind.Trigger, Type: "docker", Name: name, section: section,
			references: referencesOf(schema, values, section)}}
	}
	var log strings.Builder
	m := New(Options{Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
	m.list(trigger("local", option.Values{"hass.install": "docker.locl", "note": "docker.nowhere"}))
	m.list(trigger("right", option.Values{"hass.install": " Docker.Local"}))
	m.list(trigger("later", option.Values{"hass.install": "chat.main"}))
	m.list(trigger("none", option.Values{"hass.install": ""}))
	m.waiting = []config.Component{{Kind: kind.Trigger, Type: "chat", Name: "main"}}
	var got []string
	for _, p := range m.Problems() {
		got = append(got, p.Level.String()+" "+p.String())
	}
	want := []string{
		`error trigger.docker.local.hass.install: names the trigger "docker.locl", which is not configured; did you mean docker.local?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	m.LogReferences()
	said := `[ERROR] component: configuration: problem="trigger.docker.local.hass.install: names the trigger`
	if strings.Count(log.String(), "[ERROR]") != 1 || !strings.Contains(log.String(), said) {
		t.Errorf("logged %s", log.String())
	}
}
