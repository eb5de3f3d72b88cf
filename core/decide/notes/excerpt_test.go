package notes

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestExcerpt(t *testing.T) {
	n := Notes{Notes: []Note{
		{
			Version: "v2.0.0", Date: sdk.TimeOf(time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)),
			Body: "## New\n\n- **fast** `x` by [me](https://a.example)\n- see https://a.example/1\n\n![x](https://t.example/p.gif)\n\n<b>no</b> html\n\n```sh\nmigrate\n```\n", Breaking: []string{"**gone** is `v1`"},
		},
		{Version: "v1.9.0", Body: "text\nof two lines", Action: []string{"You must run it"}},
	}}
	want := "Breaking (v2.0.0): gone is v1\nTo do (v1.9.0): You must run it\n\nv2.0.0 (2 Nov 2026)\nNew\n- fast x by me\n- see https://a.example/1\nno html\nmigrate\n\nv1.9.0\ntext of two lines"
	if got := NewRenderer().Excerpt(n); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := NewRenderer().Excerpt(Notes{Reason: "there is no update"}); got != "" {
		t.Errorf("without notes: %q", got)
	}
}

// TestExcerptIsBounded: long and hostile notes make a short text without control characters.
func TestExcerptIsBounded(t *testing.T) {
	r := NewRenderer()
	bodies := append([]string{strings.Repeat("ä", maxBody), strings.Repeat("- a line\n", 5000),
		strings.Repeat("> ", maxBody/2), "\x1b[31m\u202e\x00x"}, hostile(t)...)
	for _, body := range bodies {
		n := Notes{}
		for range 50 {
			n.Notes = append(n.Notes, Note{Version: "v1", Body: body, Breaking: []string{cut(body, maxWarning)}})
		}
		got := r.Excerpt(n)
		if utf8.RuneCountInString(got) > maxExcerpt || strings.ContainsAny(got, "\x00\x1b\u202e") {
			t.Errorf("%.40q makes %d characters: %.200q", body, utf8.RuneCountInString(got), got)
		}
	}
}
