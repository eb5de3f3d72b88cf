package web

import (
	"html/template"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/web/words"
)

// ago is how long ago or ahead a time is, as HTML with the exact time on hover.
func (u *UI) ago(at any) template.HTML {
	t := words.Instant(at)
	if t.IsZero() {
		return "not yet"
	}
	// All that goes in is digits and words of ours.
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + words.Exact(t) + `">` +
		words.Relative(u.Now().Sub(t)) + `</time>`)
}
