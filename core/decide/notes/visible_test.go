package notes

import (
	"html"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/visible"
)

// TestNotesAreReadable: nothing in notes shows a text in another order, or has what nobody sees, be it
// written as itself or as an entity of HTML. Emoji stay whole.
func TestNotesAreReadable(t *testing.T) {
	all, err := decodeReleases(strings.NewReader(`[{"tag_name": "v1\u202e.0", "name": "Fi\u200bx\n\u2066es", "body": "# Si\ufeffgned \u202egpj\r\n\n- \ud83d\udc69\u200d\ud83d\udcbb \u2764\ufe0f\n"}]`), 1<<20)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if r := all[0]; r.Tag != "v1.0" || r.Name != "Fix es" || r.Body != "# Signed gpj\n\n- 👩\u200d💻 ❤\ufe0f" {
		t.Errorf("%+q %+q %+q", r.Tag, r.Name, r.Body)
	}
	r := NewRenderer()
	for _, hidden := range []string{"\u202e", "&#x202e;", "&#8238;", "&rlm;", "&lrm;", "&zwnj;", "&ZeroWidthSpace;",
		"&#x2066;", "&NoBreak;", "&#xE0041;", "&#x3164;", "&shy;"} {
		for _, markdown := range []string{"a" + hidden + "b", "# a" + hidden + "b",
			"[a" + hidden + "b](https://example.org)", "[a](https://example.org/" + hidden + " \"" + hidden + "\")",
			"|a|\n|-|\n|" + hidden + "|", "**" + hidden + "**"} {
			for what, text := range map[string]string{
				"page": html.UnescapeString(r.HTML(markdown)), "message": r.Plain(markdown),
			} {
				if i := strings.IndexFunc(text, func(c rune) bool { return c != '\n' && visible.Hidden(c) }); i >= 0 {
					t.Errorf("%s of %+q: %+q", what, markdown, text)
				}
			}
		}
	}
	if got := r.Plain("👩\u200d💻 ❤\ufe0f\tok"); got != "👩\u200d💻 ❤\ufe0f ok" {
		t.Errorf("%+q", got)
	}
}
