package page_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/serve/web/agents"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/components"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/history"
	"github.com/dogwatch/dogwatch/core/serve/web/login"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/overview"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/plugins"
	"github.com/dogwatch/dogwatch/core/serve/web/policies"
	"github.com/dogwatch/dogwatch/core/serve/web/settings"
)

// english are the pages of the reference of the API, which has one language.
var english = []string{"api", "apidocs"}

func TestEveryTextOfTemplatesIsTranslated(t *testing.T) {
	site := page.New(page.Options{
		Log: hclog.NewNullLogger(), Now: time.Now, TaskChanged: func() {},
		Templates: []fs.FS{
			overview.Templates, containers.Templates, choices.Templates, operations.Templates, components.Templates,
			plugins.Templates, history.Templates, policies.Templates, settings.Templates, login.Templates, find.Templates,
			guide.Templates, agents.Templates,
		},
	})
	texts, err := site.Texts()
	if err != nil || len(texts) < 20 {
		t.Fatalf("%d pages, error %v", len(texts), err)
	}
	for _, language := range site.Languages.All() {
		if !language.Translates() {
			continue
		}
		areas, err := language.Keys()
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, keys := range areas {
			for _, key := range keys {
				known[key] = true
			}
		}
		missing := map[string]string{}
		for name, all := range texts {
			for _, text := range all {
				if !slices.Contains(english, name) && !known[strings.ReplaceAll(text, "%", "%%")] && !known[text] {
					missing[text] = name
				}
			}
		}
		for text, name := range missing {
			t.Errorf("%s: the page %s says %q, which has no translation", language.Tag, name, text)
		}
	}
}

func TestTranslated(t *testing.T) {
	for markup, want := range map[string]string{
		"Plain":                     "PLAIN",
		"<p>\n  One\n two </p>":     "<p>\n  ONE TWO </p>",
		`<a href="a b">c</a>`:       `<a href="a b">C</a>`,
		`<a title="x > y" b>z`:      `<a title="X > Y" b>Z`,
		`<meta content='{"a":1}'>`:  `<meta content='{"a":1}'>`,
		`<a aria-label="Undo `:      `<a aria-label="UNDO `,
		`<code>a.b</code> c`:        `<code>a.b</code> C`,
		`<br>d 1 <kbd>x</kbd>`:      `<br>D 1 <kbd>x</kbd>`,
		`1 → 2`:                     `1 → 2`,
		`<input value="a" alt="b">`: `<input value="a" alt="B">`,
	} {
		if got := page.Translated(markup, strings.ToUpper); got != want {
			t.Errorf("%q became %q, want %q", markup, got, want)
		}
	}
}

// TestQuotesAreMarkedAmongElements: an attribute or a title with an element in it would show its tags.
func TestQuotesAreMarkedAmongElements(t *testing.T) {
	for template, want := range map[string]string{
		`<title>{{.A}}</title><p title="{{.A}}">{{.A}}</p>`:     `<title>{{.A | say}}</title><p title="{{.A | say}}">{{.A | sayHTML}}</p>`,
		`<option{{.A}}>{{.A}}</option>{{if .B}}{{.C}}{{end}}`:   `<option{{.A | say}}>{{.A | say}}</option>{{if .B}}{{.C | sayHTML}}{{end}}`,
		`{{range .A}}<textarea>{{.B}}</textarea>{{.C}}{{end}}d`: `{{range .A}}<textarea>{{.B | say}}</textarea>{{.C | sayHTML}}{{end}}d`,
	} {
		if got, err := page.Saying(template); err != nil || got != want {
			t.Errorf("%s became %s, error %v", template, got, err)
		}
	}
}
