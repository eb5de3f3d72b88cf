package component

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/template"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestThresholdChoicesAreThoseOfLabels: a label accepts each threshold that the option accepts.
func TestThresholdChoicesAreThoseOfLabels(t *testing.T) {
	o, _ := HostOptions(kind.Trigger).Find("threshold")
	for _, choice := range o.Choices {
		c := sdk.Container{TriggerInclude: "mail.main:" + choice}
		if got, ok := dispatch.Associated("mail.main", false, c); !ok || got != choice {
			t.Errorf("a label with the threshold %q means %q", choice, got)
		}
	}
	if len(o.Choices) < 2 {
		t.Errorf("choices: %q", o.Choices)
	}
}

// TestDefaultMessages: the message about a digest names the image and is short enough to read.
func TestDefaultMessages(t *testing.T) {
	digest := func(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }
	container := func(name string, u sdk.UpdateKind) sdk.Container {
		return sdk.Container{Name: "web", UpdateKind: u, Image: sdk.Image{Name: name, Tag: sdk.Tag{Value: "latest"}}}
	}
	rebuilt := sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: digest("a"), RemoteValue: digest("b")}
	versioned := container("library/nginx", rebuilt)
	versioned.Image.Version = "1.27.2"
	linked := container("team/app", sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0.0-digest", RemoteValue: "1.1.0"})
	linked.Result = &sdk.Result{Tag: "1.1.0", Link: "https://example.org/1.1.0"}
	based := container("shop-web", sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "22-alpine", RemoteValue: "24-alpine"})
	based.Base = &sdk.Image{Name: "library/node", Tag: sdk.Tag{Value: "22-alpine"}}
	rebased := container("shop-web", rebuilt)
	rebased.Base = based.Base
	for _, c := range []struct {
		name        string
		of          sdk.Container
		title, body string
	}{
		{"digest of known versions", versioned, "New digest of nginx:latest (1.27.2 → 1.27.3) found for container web",
			"Container web running nginx:latest (1.27.2 → 1.27.3) with digest aaaaaaaaaaaa can be updated to digest bbbbbbbbbbbb"},
		{"digest", container("library/nginx", rebuilt), "New digest of nginx:latest found for container web",
			"Container web running nginx:latest with digest aaaaaaaaaaaa can be updated to digest bbbbbbbbbbbb"},
		{"digest of a simulated container", container("", rebuilt), "New digest found for container web",
			"Container web running with digest aaaaaaaaaaaa can be updated to digest bbbbbbbbbbbb"},
		{"version of a base", based, "New tag of the base image node:22-alpine found for container web",
			"Container web running on the base image node:22-alpine with tag 22-alpine can be rebuilt with tag 24-alpine"},
		{"digest of a base", rebased, "New digest of the base image node:22-alpine found for container web",
			"Container web running on the base image node:22-alpine with digest aaaaaaaaaaaa can be rebuilt with " +
				"digest bbbbbbbbbbbb"},
		{"version", linked, "New tag found for container web",
			"Container web running with tag 1.0.0-digest can be updated to tag 1.1.0\nhttps://example.org/1.1.0"},
	} {
		versions := ""
		if c.of.Image.Version != "" {
			versions = "1.27.2 → 1.27.3"
		}
		value, err := template.Value(c.of)
		if err != nil {
			t.Fatal(err)
		}
		for option, want := range map[string]string{"simpletitle": c.title, "simplebody": c.body} {
			o, _ := HostOptions(kind.Trigger).Find(option)
			parsed, err := template.Parse(*o.Default)
			if err != nil {
				t.Fatalf("%s: %v", option, err)
			}
			if got, err := parsed.Render(map[string]any{
				"container": value, "also": "", "versions": versions,
			}); err != nil || got != want {
				t.Errorf("%s, %s: %v\n got  %s\n want %s", c.name, option, err, got, want)
			}
		}
	}
}

// TestBacklogByType: messages to people are one about all that waits; programs, and what updates containers, run for
// each.
func TestBacklogByType(t *testing.T) {
	for about, c := range map[string]struct {
		given string
		can   []string
		want  string
	}{
		"messages":           {"", []string{kind.CapMessages}, BacklogSummary},
		"messages, each":     {"each", []string{kind.CapMessages}, BacklogEach},
		"a program":          {"", nil, BacklogEach},
		"a program, summary": {"summary", nil, BacklogSummary},
		"updates":            {"summary", []string{kind.CapOperate}, BacklogEach},
		"updates, none":      {"none", []string{kind.CapOperate}, BacklogNone},
	} {
		trigger := Trigger{Component: Component{typ: kind.Type{Kind: kind.Trigger, Capabilities: c.can}}}
		values := option.Values{"auto": true}
		if c.given != "" {
			values["backlog"] = c.given
		}
		opt := Options{ValidateTrigger: func(TriggerOptions) []config.Problem { return nil }}
		if _, err := trigger.setSettings(values, &opt); err != nil || trigger.Settings.Backlog != c.want {
			t.Errorf("%s: %q, %v; want %q", about, trigger.Settings.Backlog, err, c.want)
		}
	}
}
