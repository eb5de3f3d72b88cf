package operations

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/stackorder"
	"github.com/dogwatch/dogwatch/sdk"
)

// startedView says what became of the updates of a selection, where some did not begin.
type startedView struct {
	Begun  []page.Anchor
	Failed []planLine
}

// startSelection begins the updates that the user has confirmed.
func (h *Handler) startSelection(w http.ResponseWriter, r *http.Request) {
	chosen := h.find.Chosen(r.PostForm["c"])
	if len(chosen) == 0 || len(chosen) > find.MaxSelected {
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title:  phrase.New("Nothing was chosen"),
			Detail: phrase.New("Choose up to %d containers that still exist; then repeat it.", find.MaxSelected),
			Back:   phrase.New("Go to Containers"), BackTo: "/containers",
		})
		return
	}
	// Those of a stack are carried out one after the other, as they were begun.
	chosen = stackorder.InOrder(chosen, func(c sdk.Container) sdk.Container { return c })
	var v startedView
	for i := range chosen {
		c := &chosen[i]
		key := c.Watcher + "/" + c.Name
		change := service.Change{
			Container: c.ID, Kind: operation.Update, Digest: r.PostForm.Get("digest:" + key),
			State: r.PostForm.Get("state:" + key),
		}
		change.Rules.Acknowledged = r.PostForm["ack:"+key] // to choose it was to accept them
		op, err := h.service.StartOperation(r.Context(), h.ActorOf(r), change)
		if err != nil {
			_, problem := notBegun(err)
			v.Failed = append(v.Failed, planLine{
				Key: key, Name: words.Name(c), Path: page.ChangePath(operation.Update, c), Problem: problem,
			})
			continue
		}
		v.Begun = append(v.Begun, page.Anchor{Text: words.Name(c), To: page.OperationPath(op.ID)})
	}
	if len(v.Failed) == 0 {
		http.Redirect(w, r, h.Path("/operations"), http.StatusSeeOther)
		return
	}
	h.Show(w, r, http.StatusConflict, "started", page.Page{Title: phrase.New("Update %s", words.Names(chosen)), Nav: "containers", Content: v})
}
