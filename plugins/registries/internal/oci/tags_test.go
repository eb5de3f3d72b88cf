package oci

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestTagsOfManyPages(t *testing.T) {
	for _, size := range []int{1, 7, 100, 1000} {
		sim, r := newSim(registrysim.Options{PageSize: size, ETags: true})
		var tags []string
		for n := range 100 {
			tags = append(tags, fmt.Sprintf("1.%d.0-rc+1", n), fmt.Sprintf("1.%02d", n))
		}
		sim.Push("many/tags", tags...)
		list, err := r.Tags(t.Context(), repo("many/tags"), "")
		// A plus sign is in no tag; the registry has such names all the same.
		if err != nil || len(list.Tags) != 100 {
			t.Errorf("pages of %d: %d tags, %v", size, len(list.Tags), err)
		}
		if onePage := size == 1000; (list.Validator != "") != onePage {
			t.Errorf("pages of %d: validator %q", size, list.Validator)
		}
	}
}

func TestTagsConditionalRequest(t *testing.T) {
	sim, r := newSim(registrysim.Options{ETags: true})
	list, err := r.Tags(t.Context(), app(), "")
	if err != nil || list.Validator == "" || list.NotModified || len(list.Tags) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	again, err := r.Tags(t.Context(), app(), list.Validator)
	if err != nil || !again.NotModified || again.Validator != list.Validator || again.Tags != nil {
		t.Errorf("again: %+v, %v", again, err)
	}
	sim.Push("team/app", "2.0.0")
	again, err = r.Tags(t.Context(), app(), list.Validator)
	if err != nil || again.NotModified || again.Validator == list.Validator || len(again.Tags) != 4 {
		t.Errorf("after a push: %+v, %v", again, err)
	}
}

func TestEntityTagRejectsUnfit(t *testing.T) {
	for tag, want := range map[string]string{
		`"abc"`: `"abc"`, `W/"abc"`: `W/"abc"`, "": "", "\"\x01\"": "", strings.Repeat("a", 300): "",
	} {
		if got := entityTag(http.Header{"Etag": {tag}}); got != want {
			t.Errorf("%q kept as %q", tag, got)
		}
	}
}

// Lists that break the protocol, and the errors that the operator sees.
func TestTagsRejectMalformedLists(t *testing.T) {
	tests := []struct {
		name, body string
		tags       int
		want       string
	}{
		{"plain", `{"name":"a","tags":["1","2"]}`, 2, ""},
		{"null", `{"name":"a","tags":null}`, 0, ""},
		{"empty", `{"tags":[]}`, 0, ""},
		{"more than tags", `{"child":[{"a":[]}],"manifest":{"x":{}},"tags":["1"],"z":1}`, 1, ""},
		{"names that are no tags", `{"tags":["1","dir/","a b","é",""]}`, 1, ""},
		{"no list", `{"name":"a"}`, 0, "without a list of tags"},
		{"errors under 200", `{"errors":[{"code":"UNKNOWN"}]}`, 0, "without a list of tags"},
		{"text", `{"tags":"1"}`, 0, "a list of tags that is none"},
		{"object", `{"tags":{"a":1}}`, 0, "a list of tags that is none"},
		{"numbers", `{"tags":["1",2]}`, 0, "something else in it"},
		{"nested", `{"tags":[["1"]]}`, 0, "something else in it"},
		{"NUL", `{"tags":["1\u0000"]}`, 0, "control characters"},
		{"line break", `{"tags":["1\nX"]}`, 0, "control characters"},
		{"array", `["1"]`, 0, "something else than a list of tags"},
		{"nothing", ``, 0, "broke off a list of tags after 0 bytes"},
		{"truncated", `{"tags":["1","2`, 0, "broke off a list of tags after"},
		{"truncated later", `{"tags":["1"]`, 0, "broke off a list of tags after"},
		{"not JSON", `tags: 1`, 0, "malformed JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sim, r := newSim(registrysim.Options{})
			sim.Inject(registrysim.TagsRequest, -1, registrysim.Status(200, test.body, "Content-Type", "application/json"))
			list, err := r.Tags(t.Context(), app(), "")
			if test.want == "" {
				if err != nil || len(list.Tags) != test.tags {
					t.Errorf("%q, %v; want %d tags", list.Tags, err, test.tags)
				}
				return
			}
			checkKind(t, err, sdk.ErrUnavailable)
			if err == nil || !strings.HasPrefix(err.Error(), "list tags of team/app at sim.test: the registry ") ||
				!strings.Contains(err.Error(), test.want) || list.Tags != nil {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestTagsRejectEndlessPages(t *testing.T) {
	page := 0
	tests := []struct {
		name, want string
		respond    func(w http.ResponseWriter)
		most       int
	}{
		{"in circles", "round in circles", func(w http.ResponseWriter) {
			w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, page%3))
			fmt.Fprintf(w, `{"tags":["%d"]}`, page)
		}, 5},
		{"empty", "empty pages", func(w http.ResponseWriter) {
			w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, page))
			fmt.Fprint(w, `{"tags":[]}`)
		}, maxEmptyPages + 1},
		{"always more", "more than 1000 pages", func(w http.ResponseWriter) {
			w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, page))
			fmt.Fprintf(w, `{"tags":["%d"]}`, page)
		}, maxPages},
		{"full pages", "more than 100000 tags", func(w http.ResponseWriter) {
			w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, page))
			fmt.Fprintf(w, `{"tags":[%s"x"]}`, strings.Repeat(`"x",`, 30_000))
		}, 4},
		{"long links", "in 5001 bytes", func(w http.ResponseWriter) {
			w.Header().Set("Link", fmt.Sprintf(`<?%s%d>; rel="next"`, strings.Repeat("x", 5000), page))
			fmt.Fprint(w, `{"tags":["1"]}`)
		}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page = 0
			r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				page++
				test.respond(w)
			})})
			_, err := r.Tags(t.Context(), app(), "")
			checkKind(t, err, sdk.ErrUnavailable)
			if err == nil || !strings.Contains(err.Error(), test.want) || page > test.most {
				t.Errorf("after %d pages: %v, want %q", page, err, test.want)
			}
		})
	}
}

// A gap between pages is no end of the list.
func TestTagsContinueAfterEmptyPages(t *testing.T) {
	page := 0
	r := newRegistry(internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if page++; page < 12 {
			w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, page))
		}
		if page%4 == 0 {
			fmt.Fprintf(w, `{"tags":["%d"]}`, page)
		} else {
			fmt.Fprint(w, `{"tags":null}`)
		}
	})})
	if tags := mustTags(t, r, app()); len(tags) != 3 {
		t.Errorf("tags %q", tags)
	}
}

func BenchmarkReadTags(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"name":"a","tags":["0"`)
	for n := range 1000 {
		fmt.Fprintf(&body, `,"1.%d.0-alpine"`, n)
	}
	body.WriteString("]}")
	n := internet{
		simHost: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body.String())) }),
	}
	r := newRegistry(n)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Tags(b.Context(), app(), ""); err != nil {
			b.Fatal(err)
		}
	}
}

// Twenty thousand tags in twenty pages. What stays of them is their text and
// 16 bytes each; the pages themselves are never held.
func BenchmarkManyTags(b *testing.B) {
	const tags, pages = 20_000, 20
	bodies := make([]string, pages)
	for page := range bodies {
		var body strings.Builder
		body.WriteString(`{"name":"a","tags":["0"`)
		for n := range tags/pages - 1 {
			fmt.Fprintf(&body, `,"%d.%d.0-alpine3.21"`, page, n)
		}
		bodies[page] = body.String() + "]}"
	}
	n := internet{simHost: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		page, _ := strconv.Atoi(req.URL.Query().Get("last"))
		if page+1 < pages {
			w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, page+1))
		}
		_, _ = io.WriteString(w, bodies[page])
	})}
	r := newRegistry(n)
	b.ReportAllocs()
	for b.Loop() {
		list, err := r.Tags(b.Context(), app(), "")
		if err != nil || len(list.Tags) != tags {
			b.Fatalf("%d tags, %v", len(list.Tags), err)
		}
	}
}

func FuzzReadTags(f *testing.F) {
	f.Add(`{"name":"a","tags":["1","2"]}`)
	f.Add(`{"tags":null,"tags":[]}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		w.WriteString(body)
		p, err := readTags(w.Result(), nil)
		for _, tag := range p.tags {
			if !reference.IsTag(tag) {
				t.Errorf("%q lists %q", body, tag)
			}
		}
		if err != nil && p.tags != nil {
			t.Errorf("%q gives tags and %v", body, err)
		}
	})
}
