package message

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestBody(t *testing.T) {
	tests := []struct{ title, body, want string }{
		{"title", "body", "body"},
		{"title", " \n", "title"},
		{"", "", "(no text)"},
		{"", " body ", " body "},
	}
	for _, test := range tests {
		if got := Body(trigger.Request{Title: test.title, Body: test.body}); got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.title, test.body, got, test.want)
		}
	}
}

func TestReleaseLink(t *testing.T) {
	const limit = 100
	linked := func(link string) trigger.Request {
		return trigger.Request{Containers: []sdk.Container{{Result: &sdk.Result{Link: link}}}}
	}
	batch := linked("https://a")
	batch.Batch = true
	fits := "https://" + strings.Repeat("x", limit-len("https://"))
	simulated := trigger.Request{
		Containers: []sdk.Container{{UpdateKind: sdk.UpdateKind{Result: &sdk.Result{Link: "https://s"}}}},
	}
	tests := map[string]struct {
		req  trigger.Request
		want string
	}{
		"link":         {linked("https://a"), "https://a"},
		"http":         {linked("http://a"), "http://a"},
		"none":         {linked(""), ""},
		"script":       {linked("javascript:alert(1)"), ""},
		"fits":         {linked(fits), fits},
		"long":         {linked(fits + "x"), ""},
		"batch":        {batch, ""},
		"simulated":    {simulated, "https://s"},
		"nothing":      {trigger.Request{Containers: []sdk.Container{{}}}, ""},
		"no container": {trigger.Request{}, ""},
	}
	for name, test := range tests {
		if got := ReleaseLink(test.req, limit); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
