package containers

import (
	"cmp"
	"html/template"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// rowHTML returns a row as HTML: one item of the list. It is written here rather
// than in a template since a list has hundreds of rows, of which a template
// would take ten times as long. Every text goes through text. A listed row can be selected, and opens beside the list.
func (h *Handler) rowHTML(in *language.Language, r *Row, listed bool) template.HTML {
	b := rowWriter{icons: h.AssetPath("icons.svg")}
	b.raw(`<li class="row" data-key="`).text(r.Key).raw(`">`)
	sheet := ""
	if listed {
		sheet = " data-sheet"
		b.raw(`<label class="pick"><input type="checkbox" name="c" value="`).text(r.Key)
		b.raw(`" form="bulk" aria-label="Select `).text(r.Name).raw(`"></label>`)
	}
	b.raw(`<svg class="icon" aria-hidden="true"><use href="`).text(b.icons).raw("#").text(r.Icon)
	b.raw(`"/></svg><span class="title"><a class="name" href="`).text(h.Path(r.Href)).raw(`"` + sheet + `>`).text(r.Name).raw(`</a>`)
	if r.Status != "" && r.Status != running {
		b.raw(`<span class="status `).text(r.Status).raw(`">`).text(r.Status).raw(`</span>`)
	}
	if r.AsOf != "" {
		b.raw(`<span class="status" title="`).text(r.Silence).raw(`">as of `).text(r.AsOf).raw(`</span>`)
	}
	b.raw(`</span><span class="image"`)
	if r.Repository != r.Image {
		b.raw(` title="`).text(r.Image).raw(`"`)
	}
	b.raw(`>`).cut(r.Repository, r.Image)
	b.raw(`</span><span class="tags"><span class="tag">`).cut(r.Current, r.Current).raw(`</span>`)
	if r.New != "" {
		b.raw(`<span class="to"> → </span><b class="tag">`).cut(r.New, r.New).raw(`</b>`)
		for _, tag := range r.Also {
			b.raw(`<span class="also">, or `).text(tag).raw(`</span>`)
		}
	}
	b.raw(`</span>`)
	if r.Part == tally.Current {
		b.raw(`<span class="fine">`)
	} else {
		b.raw(`<span class="kind `).text(r.Standing.Class).raw(`">`)
	}
	b.text(in.Say(r.Standing.Word)).raw(`</span><span class="age">`)
	switch {
	case r.Doing != "":
		b.raw(`<a class="doing" href="`).text(h.Path(r.DoingPath)).raw(`">`).text(r.Doing).raw(`</a>`)
	case r.Failed != "":
		b.raw(`<span class="bad" title="`).text(r.Failed).raw(`">`).text(cmp.Or(r.Cause, r.Failed)).raw(`</span>`)
	case r.brief(h.Now()) != "":
		b.raw(`<span class="decided" title="`).text(strings.Join(r.Reasons,
			". ")).raw(`">`).text(r.brief(h.Now())).raw(`</span>`)
	case r.Postponed != "":
		b.raw(`<span class="reason" title="`).text(r.Postponed).raw(`">`).text(r.Postponed).raw(`</span>`)
	case r.Unknown != "":
		b.raw(`<span class="reason" title="`).text(r.Unknown).raw(`">`).text(r.Unknown).raw(`</span>`)
	case !r.Released.IsZero():
		b.raw(string(h.Ago(in, r.Released)))
	case !r.Seen.IsZero():
		b.raw(`<span title="`).text(seenTitle(r.Seen)).raw(`">seen `).text(words.Relative(h.Now().Sub(r.Seen)).String()).raw(`</span>`)
	}
	b.raw(`</span>`)
	if r.Update != "" {
		b.raw(`<a class="button act" href="`).text(h.Path(r.Update)).raw(`" data-update aria-label="Update `).text(r.Name).raw(`">Update</a>`)
	}
	b.raw(`</li>`)
	return template.HTML(b.String())
}

// running is the status of a container that runs, of which rows say nothing.
const running = "running"

// seenTitle explains what stands in for the age of a release.
func seenTitle(seen time.Time) string {
	return "Dogwatch has known of it since " + words.Exact(seen) + ". When it was released is not known."
}

// rowWriter writes markup of ours and texts of others.
type rowWriter struct {
	strings.Builder
	icons string
}

// raw writes markup.
func (b *rowWriter) raw(markup string) *rowWriter {
	b.WriteString(markup)
	return b
}

const (
	// uncut is how many characters of a name or a version always have room.
	uncut = 14
	// lastKept are those at its end that stay when it is cut.
	lastKept = 8
)

// cut writes a name or a version that loses its middle where there is no room for all of it: its end often is what
// tells it from another. The title of what may be cut is full.
func (b *rowWriter) cut(text, full string) *rowWriter {
	runes := []rune(text)
	if len(runes) <= uncut {
		return b.text(text)
	}
	keep := len(runes) - lastKept
	return b.raw(`<span class="cut" title="`).text(full).raw(`"><span>`).text(string(runes[:keep])).raw(`</span><span>`).text(string(runes[keep:])).raw(`</span></span>`)
}

// text writes a text, which is also safe within quotes.
func (b *rowWriter) text(text string) *rowWriter {
	b.WriteString(template.HTMLEscapeString(text))
	return b
}
