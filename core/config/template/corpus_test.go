package template

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestCorpusMessages renders what users really wrote for their notifications.
func TestCorpusMessages(t *testing.T) {
	var corpus struct {
		Container map[string]any
		Templates []struct{ Kind, Template, Rendered, WUD8Error string }
	}
	readJSON(t, "templates.json", &corpus)
	kind := corpus.Container["updateKind"].(map[string]any)
	simple := map[string]any{
		"container": corpus.Container, "id": corpus.Container["id"], "name": corpus.Container["name"],
		"watcher": corpus.Container["watcher"],
		"kind":    kind["kind"], "semver": kind["semverDiff"], "local": kind["localValue"], "remote": kind["remoteValue"],
		"link": corpus.Container["result"].(map[string]any)["link"],
	}
	batch := map[string]any{"containers": []any{corpus.Container, corpus.Container}, "count": 2}
	for _, c := range corpus.Templates {
		vars := simple
		if c.Kind == "batchTitle" {
			vars = batch
		}
		got, err := render(c.Template, vars)
		switch {
		case c.Kind == "command": // shell variables: the test of that trigger has them
			continue
		case c.WUD8Error != "":
			var failed *EvalError
			name, _, _ := strings.Cut(c.WUD8Error, " ")
			if !errors.As(err, &failed) || failed.Placeholder != "${"+name+"}" ||
				!strings.Contains(err.Error(), `unknown name "`+name+`" (known: `) {
				t.Errorf("%s: error %v does not name %s and what is known", c.Template, err, name)
			}
			if got == "" || strings.Contains(got, "$") {
				t.Errorf("%s: got %q, want the rest of the text", c.Template, got)
			}
		case err != nil:
			t.Errorf("%s: %v", c.Template, err)
		case c.Kind == "url": // not a template to the http trigger either, whose address is fixed; it reads as one
			if want := "https://ntfy.example/publish?title=sonarr+has+an+update!&message=Container+sonarr+has+a+tag+update+to+version+4.0.15"; got != want {
				t.Errorf("%s\n got  %q\n want %q", c.Template, got, want)
			}
		case c.Rendered != "" && got != c.Rendered:
			t.Errorf("%s\n got  %q\n want %q", c.Template, got, c.Rendered)
		}
	}
}

// TestCorpusLinks renders real link templates; their placeholders are plain names.
func TestCorpusLinks(t *testing.T) {
	var corpus struct{ Templates []string }
	readJSON(t, "links.json", &corpus)
	vars := map[string]any{
		"container": map[string]any{"name": "web"}, "original": "v1.2.3-rc.4", "raw": "v1.2.3-rc.4",
		"transformed": "1.2.3-rc.4",
		"major":       "1", "minor": "2", "patch": "3", "prerelease": "rc",
	}
	for _, src := range corpus.Templates {
		want := src
		for name, value := range vars {
			if text, ok := value.(string); ok {
				want = strings.ReplaceAll(want, "${"+name+"}", text)
			}
		}
		tmpl, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		unknown := slices.DeleteFunc(tmpl.Names(), func(name string) bool {
			return slices.Contains(slices.Collect(maps.Keys(vars)), name)
		})
		got, err := tmpl.Render(vars)
		switch {
		case len(unknown) == 0 && (err != nil || got != want):
			t.Errorf("%s\n got  %q, %v\n want %q", src, got, err, want)
		case len(unknown) > 0 &&
			(err == nil || !strings.Contains(err.Error(), `unknown name "`+unknown[0]+`" (known: container, major, `)):
			t.Errorf("%s: error %v does not name %v", src, err, unknown)
		}
	}
}
