package web

import (
	"strings"
	"testing"
)

func TestAPIPage(t *testing.T) {
	u := withFakes(t, nil)
	p, err := readAPI(u.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	operations, anchors := 0, map[string]bool{}
	for _, s := range p.Schemas {
		anchors[s.Name] = true
	}
	for _, g := range p.Groups {
		if g.Name == "other" || g.Description == "" {
			t.Errorf("the tag %s is not declared", g.Name)
		}
		for _, o := range g.Operations {
			operations++
			if o.ID == "" || o.Summary == "" || len(o.Responses) == 0 {
				t.Errorf("%s %s: %+v", o.Method, o.Path, o)
			}
			for _, f := range o.Parameters {
				if f.Name == "" || f.Where == "" {
					t.Errorf("%s %s: a parameter without name: %+v", o.Method, o.Path, f)
				}
			}
			for _, a := range o.Responses {
				if a.Description == "" {
					t.Errorf("%s %s: status %s says nothing", o.Method, o.Path, a.Status)
				}
			}
		}
	}
	if want := strings.Count(string(u.OpenAPI), "operationId:"); operations != want {
		t.Errorf("%d operations of %d", operations, want)
	}
	_, body := get(t, u, "/settings/api")
	for _, part := range strings.Split(body, `href="#schema-`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); !anchors[name] {
			t.Errorf("a link leads to the schema %q, which there is not", name)
		}
	}
	contains(t, body, `id="op-listContainers"`, "/api/containers", "list of <a href=\"#schema-Container\">", "image",
		`<code>dogwatch.display.name</code>`)
}

func TestReadAPIRejectsInvalidDocuments(t *testing.T) {
	for _, text := range []string{"\t", "paths: []", "paths: {/x: {get: []}}", "paths: {/x: {parameters: {}, get: {}}}",
		"components: {schemas: 5}"} {
		if _, err := readAPI([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"a `b` c":                  "<p>a <code>b</code> c</p>",
		"one\n\ntwo":               "<p>one</p><p>two</p>",
		"<b>`<i>`":                 "<p>&lt;b&gt;<code>&lt;i&gt;</code></p>",
		"odd ` one</code><script>": "<p>odd <code> one&lt;/code&gt;&lt;script&gt;</code></p>",
	} {
		if got := string(prose(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
