package operations

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// selectionView is the page of several updates before they begin.
type selectionView struct {
	Plans []planLine
	// Ready is how many can be updated as they are, Acceptable how many once the user
	// accepts what keeps them from it.
	Ready, Acceptable int
}

// showSelection renders the plans of all containers that the address names.
func (h *Handler) showSelection(w http.ResponseWriter, r *http.Request) {
	chosen := h.find.Chosen(r.URL.Query()["c"])
	switch {
	case len(chosen) == 0:
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: phrase.New("Nothing was chosen"), Detail: phrase.New("Choose at least one container, and try again."),
			Back: phrase.New("Go to Containers"), BackTo: "/containers",
		})
		return
	case len(chosen) > find.MaxSelected:
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title:  phrase.New("Too much at once"),
			Detail: phrase.New("At most %d containers are updated at once. Choose fewer.", find.MaxSelected),
			Back:   phrase.New("Go to Containers"), BackTo: "/containers",
		})
		return
	}
	v := selectionView{Plans: h.planLines(r, chosen)}
	for _, l := range v.Plans {
		switch {
		case l.Problem != nil:
		case len(l.Codes) > 0:
			v.Acceptable++
		default:
			v.Ready++
		}
	}
	h.Show(w, r, http.StatusOK, "selection", page.Page{Title: phrase.New("Update %s", words.Names(chosen)), Nav: "containers", Content: v})
}
