package containers

import (
	"context"
	"html/template"
	"net/http"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// notesView are the release notes of what a container is offered.
type notesView struct {
	Reason     phrase.Phrase
	Lines      []noteLine
	Incomplete bool
}

// noteLine is a release. Open is true while all of it is shown.
type noteLine struct {
	notes.Note
	HTML template.HTML
	Open bool
}

const (
	// openNotes is how many releases are unfolded at first.
	openNotes = 1
	// renderedNotes is how many releases are shown with their text, which takes a
	// millisecond each; of older ones there are the warnings, and a link to their pages.
	renderedNotes = 10
)

// notes reads the release notes of a container.
func (h *Handler) notes(ctx context.Context, c sdk.Container) *notesView {
	n := h.service.Notes(ctx, c)
	v := &notesView{Reason: phrase.Sentence(phrase.Capital(phrase.Stored("notes", n.Reason))), Incomplete: n.Incomplete}
	for i, one := range n.Notes {
		line := noteLine{Note: one, Open: i < openNotes}
		line.Breaking, line.Action = h.PlainLines(one.Breaking), h.PlainLines(one.Action)
		if i < renderedNotes {
			line.HTML = template.HTML(h.Markdown().HTML(one.Body)) // sanitised
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// showNotes renders the release notes, for which their host may be needed.
func (h *Handler) showNotes(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	if !page.Partial(r) {
		http.Redirect(w, r, h.Path(tabPath(page.PathOf(&rec.Container), tabNotes, "")), http.StatusFound)
		return
	}
	h.Fragment(w, r, "container", "notes", h.notes(r.Context(), rec.Container))
}
