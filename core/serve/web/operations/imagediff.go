package operations

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/imagediff"
)

// imageDiffView is the page of what an update changes in the image.
type imageDiffView struct {
	Name, Href string
	From, To   phrase.Phrase // versions
	Image      string
	Diff       updater.ImageDiff
	Size       phrase.Phrase // in a sentence
	// Defaults are what changes but labels, which few containers read.
	Defaults, Labels []imagediff.Change
}

// showImageDiff renders what the update of a container changes in its image. The
// registry is asked only when a user opens the page: reading a manifest may count as a pull.
func (h *Handler) showImageDiff(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	c := &rec.Container
	d, err := h.service.ImageDiff(r.Context(), h.ActorOf(r), c.ID)
	if err != nil {
		h.RenderError(w, r, NotBegunStatus(err), page.Problem{
			Title: phrase.New("The images of %s cannot be compared", words.Name(c)), Detail: phrase.Sentence(words.Mistake(err.Error())),
			Back: phrase.New("Go to %s", words.Name(c)), BackTo: page.PathOf(c),
		})
		return
	}
	v := imageDiffView{
		Name: words.Name(c), Href: page.PathOf(c), Image: words.Repository(d.From.Reference), Diff: d,
		Size: words.ImageSize(d.Diff),
	}
	v.From, v.To = words.Versions(d.From, d.To)
	for _, change := range d.Changes {
		if change.Kind == imagediff.Port || change.Kind == imagediff.Volume {
			change.Name = "" // its values say which
		}
		if change.Kind == imagediff.Label {
			v.Labels = append(v.Labels, change)
			continue
		}
		v.Defaults = append(v.Defaults, change)
	}
	h.Show(w, r, http.StatusOK, "imagediff", page.Page{Title: phrase.New("What changes in %s", v.Name), Nav: "containers", Content: v})
}
