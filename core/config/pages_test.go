package config

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func TestPagesOfTypes(t *testing.T) {
	number, least := "8080", 1.0
	types := []kind.Type{
		{Kind: kind.Trigger, Name: "ntfy", Summary: "Publish", DocsURL: "https://example.org",
			Guarantee: kind.AtLeastOnce, Capabilities: []string{kind.CapStateStream}, Options: option.Schema{
				{Name: "url", Type: option.URL, Help: "Address"},
				{Name: "topic", Type: option.String, Required: true, Help: "Topic", Example: "updates"},
				{Name: "port", Type: option.Int, Help: "Port", Default: &number, Min: &least, Example: "1"},
				{Name: "auth.token", Type: option.String, Secret: true, Help: "Token", Example: "secret"},
				{Name: "pass", Type: option.String, Secret: true, Mask: option.MaskNone, Help: "Password | secret"},
				{Name: "tags", Type: option.List, Help: "Tags", Example: "a,b"},
			}},
		{Kind: kind.Trigger, Name: "act", Summary: "Act", Guarantee: kind.AtMostOnce},
		{
			Kind: kind.Watcher, Name: "docker", Summary: "Watch", DefaultName: "local",
			Options: option.Schema{{Name: "host", Type: option.String, Help: "Host", Example: "engine"}},
		},
		{
			Kind: kind.Registry, Name: "hub", Summary: "Hub", DefaultName: "public",
			Options: option.Schema{{Name: "login", Type: option.String, Help: "User", Example: "ana"}},
		},
	}
	pages, err := Pages(types)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range pages {
		b.WriteString("-- " + p.Name + " --\n" + p.Text)
	}
	golden(t, "testdata/pages.txt", b.String())

	types[0].Options[1].Example = ""
	if _, err := Pages(types); err == nil ||
		!strings.Contains(err.Error(), "document trigger.ntfy: option topic is required and has no example") {
		t.Error(err)
	}
}
