package ntfy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestActions(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "null"},
		{" \n", "null"},
		{"view, Open, https://a", `[{"action":"view","label":"Open","url":"https://a"}]`},
		{"VIEW,Open portal,https://a?x=1&y=2,clear=true",
			`[{"action":"view","label":"Open portal","clear":true,"url":"https://a?x=1\u0026y=2"}]`},
		{"action=view, url=https://a, label=Open;", `[{"action":"view","label":"Open","url":"https://a"}]`},
		{`view, "a, b; \"c\"", https://a`, `[{"action":"view","label":"a, b; \"c\"","url":"https://a"}]`},
		{`view, label='it''s', https://a`, ""},
		{`view, label='it\'s', https://a`, `[{"action":"view","label":"it's","url":"https://a"}]`},
		{
			`http, Close, https://a/, method=put, headers.Authorization=Bearer zzz, body='{"a": "b"}'`,
			`[{"action":"http","label":"Close","url":"https://a/","method":"PUT","headers":{"Authorization":"Bearer zzz"},"body":"{\"a\": \"b\"}"}]`,
		},
		{
			"broadcast, Picture, extras.cmd=pic, extras.camera=front, intent=io.example.X; copy, Code, 1234",
			`[{"action":"broadcast","label":"Picture","intent":"io.example.X","extras":{"camera":"front","cmd":"pic"}},{"action":"copy","label":"Code","value":"1234"}]`,
		},
		{`[{"action":"view","label":"Open","url":"https://a.example","clear":true}]`,
			`[{"action":"view","label":"Open","clear":true,"url":"https://a.example"}]`},
		{`[]`, `[]`},

		{"open, Label, https://a", ""},
		{"view", ""},
		{"view, Open", ""},
		{"view, Open, example.org", ""},
		{"view, Open, https://a, more", ""},
		{"view, Open, https://a, colour=red", ""},
		{"view, Open, https://a, clear=perhaps", ""},
		{`view, "Open, https://a`, ""},
		{`view, "Open" it, https://a`, ""},
		{"http, Get, https://a, method=GET, body=x", ""},
		{"copy, Code", ""},
		{strings.Repeat("view, Open, https://a;", 4), ""},
		{"view, Open, https://" + strings.Repeat("a", maxActionsBytes), ""},
		{`[{"action":"view","label":"Open","uri":"https://a"}]`, ""},
		{`[{"action":"view","label":"Open","url":"https://a"}] and more`, ""},
		{`[{"action":"view"`, ""},
	}
	for _, test := range tests {
		actions, err := parseActions(test.text)
		got, _ := json.Marshal(actions)
		var invalid *sdk.InvalidError
		switch {
		case test.want != "" && (err != nil || string(got) != test.want):
			t.Errorf("%q: %s, %v, want %s", test.text, got, err, test.want)
		case test.want == "" && (!errors.As(err, &invalid) || invalid.Fields[0].Field != "actions"):
			t.Errorf("%q: %s, %v, want an InvalidError about actions", test.text, got, err)
		}
	}
}

// Whatever the text, reading it ends, repeats nothing of it, and what is
// accepted is accepted again as JSON.
func FuzzActions(f *testing.F) {
	f.Add("view, Open, https://a; http, x, https://b, headers.a=\"s3cret\"")
	f.Add(`[{"action":"view","label":"Open","url":"https://a"}]`)
	f.Add(`a="\`)
	f.Add("=,;")
	f.Fuzz(func(t *testing.T, text string) {
		actions, err := parseActions(text)
		if err != nil {
			return
		}
		form, _ := json.Marshal(actions)
		again, err := parseActions(string(form))
		if len(actions) > 0 && (err != nil || len(again) != len(actions)) {
			t.Errorf("%q: %v, then %v, %v", text, actions, again, err)
		}
	})
}
