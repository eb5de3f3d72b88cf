package containers

import (
	"cmp"
	"html/template"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
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
		b.raw(`" form="bulk" aria-label="`).text(in.Say(phrase.New("Select %s", r.Name))).raw(`"></label>`)
	}
	b.raw(`<svg class="icon" aria-hidden="true"><use href="`).text(b.icons).raw("#").text(r.Icon)
	b.raw(`"/></svg><span class="title"><a class="name" href="`).text(h.Path(r.Href)).raw(`"` + sheet + `>`).text(r.Name).raw(`</a>`)
	if r.Status != "" && r.Status != running {
		b.raw(`<span class="status `).text(r.Status).raw(`">`).text(in.Say(words.Status(r.Status))).raw(`</span>`)
	}
	if r.AsOf != nil {
		b.raw(`<span class="status" title="`).text(r.Silence).raw(`">`).text(in.Say(phrase.New("as of %s", r.AsOf))).raw(`</span>`)
	}
	b.raw(`</span><span class="image"`)
	image := in.Say(words.Shown(r.Image))
	if r.Repository != r.Image {
		b.raw(` title="`).text(image).raw(`"`)
	}
	b.raw(`>`).cut(in.Say(words.Shown(r.Repository)), image)
	current := in.Say(words.Shown(r.Current))
	b.raw(`</span><span class="tags"><span class="tag">`).cut(current, current).raw(`</span>`)
	if r.New != "" {
		b.raw(`<span class="to"> → </span><b class="tag">`).cut(r.New, r.New).raw(`</b>`)
		for _, tag := range r.Also {
			b.raw(`<span class="also" title="`).text(tag).raw(`"> `).text(in.Say(phrase.New("or"))).raw(` <span class="tag">`).text(tag).raw(`</span>`)
			if !r.Tried[tag].IsZero() {
				b.raw(` <span class="tried">(`).text(in.Say(phrase.New("did not work"))).raw(`)</span>`)
			}
			b.raw(`</span>`)
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
	case r.Doing != nil:
		b.raw(`<a class="doing" href="`).text(h.Path(r.DoingPath)).raw(`" title="`).text(in.Say(r.Doing)).raw(`">`).text(in.Say(r.Far)).raw(`</a>`)
	case r.Failed != "":
		b.failure(in, r, h.Now())
	case r.brief(h.Now()) != nil:
		b.raw(`<span class="decided" title="`).text(in.Say(phrase.Join(". ",
			r.Reasons...))).raw(`">`).text(in.Say(r.brief(h.Now()))).raw(`</span>`)
		if r.Approval && !r.Released.IsZero() {
			b.raw(`, <span class="second">`).raw(string(h.Ago(in, r.Released))).raw(`</span>`)
		}
	case r.Postponed != nil:
		b.raw(`<span class="reason" title="`).text(in.Say(r.Postponed)).raw(`">`).say(in, r.Postponed).raw(`</span>`)
	case r.Unknown != nil:
		b.raw(`<span class="reason" title="`).text(in.Say(r.Unknown)).raw(`">`).say(in, r.Unknown).raw(`</span>`)
	case !r.Released.IsZero():
		b.raw(string(h.Ago(in, r.Released)))
	case !r.Seen.IsZero():
		b.raw(`<span title="`).text(in.Say(seenTitle(r.Seen))).raw(`">`).text(in.Say(phrase.New("seen %s", words.Relative(h.Now().Sub(r.Seen))))).raw(`</span>`)
	}
	b.raw(`</span>`)
	b.warnings(in, r.Warnings)
	if r.Update != "" {
		b.raw(`<a class="button act" href="`).text(h.Path(r.Update)).raw(`" data-update aria-label="`).text(in.Say(phrase.New("Update %s", r.Name))).raw(`">`).text(in.Say(phrase.New("Update…"))).raw(`</a>`)
	}
	b.raw(`</li>`)
	return template.HTML(b.String())
}

// running is the status of a container that runs, of which rows say nothing.
const running = "running"

// failure says why the check of a container failed.
func (b *rowWriter) failure(in *language.Language, r *Row, now time.Time) {
	full, why := in.Say(r.Failure()), r.Why()
	if !r.Whole {
		why = cmp.Or(words.Cause(r.Cause), why)
	}
	b.raw(`<span class="bad"`)
	if in.Translates() && full == in.Say(phrase.Verbatim(r.Failure().String())) {
		b.raw(` lang="en"`)
	}
	b.raw(` title="`).text(full).raw(`">`).say(in, why).raw(`</span>`)
	if !r.FailedSince.IsZero() {
		b.raw(`, <span class="second">`).say(in, firstFailed(r.FailedSince, now)).raw(`</span>`)
	}
}

// firstFailed says for how long the checks of a container fail.
func firstFailed(since, now time.Time) phrase.Phrase {
	return phrase.New("first failed %s", words.Relative(now.Sub(since)))
}

// seenTitle explains what stands in for the age of a release.
func seenTitle(seen time.Time) phrase.Phrase {
	return phrase.New("Dogwatch has known of it since %s. Its image has given no release date so far.", words.Exact(seen))
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

// warnings writes what release notes warn of, each in a line.
func (b *rowWriter) warnings(in *language.Language, w warnings) {
	for i, line := range w.Lines {
		b.raw(`<span class="warns"><span class="kind `).text(line.Class).raw(`">`).text(in.Say(line.Word)).raw(`</span> <span lang="en">`).text(line.Text).raw(`</span>`)
		if last := i == len(w.Lines)-1; last && w.More > 0 {
			b.raw(` <span>`).text(in.Say(phrase.New("and %d more", w.More))).raw(`</span>`)
		}
		b.raw(`</span>`)
	}
}

// say writes a phrase among elements.
func (b *rowWriter) say(in *language.Language, p phrase.Phrase) *rowWriter {
	return b.raw(string(in.HTML(p)))
}

// text writes a text, which is also safe within quotes.
func (b *rowWriter) text(text string) *rowWriter {
	b.WriteString(template.HTMLEscapeString(text))
	return b
}
