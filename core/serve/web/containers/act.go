package containers

import (
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// act does with containers what a form says.
func (h *Handler) act(w http.ResponseWriter, r *http.Request) {
	chosen := h.find.Chosen(r.PostForm["c"])
	actor := h.ActorOf(r)
	var started bool
	switch do := r.PostFormValue("do"); {
	case do == "check-all":
		started = h.checkAll(actor)
	case len(chosen) == 0:
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: phrase.New("Nothing was chosen"), Detail: phrase.New("Choose at least one container, and try again."),
			Back: phrase.New("Go to Containers"), BackTo: "/containers",
		})
		return
	case do == "update":
		if newer := updatable(chosen); len(newer) > 0 {
			chosen = newer // else the page of the plan says why not
		}
		h.Redirect(w, r, page.SelectionPath(chosen))
		return
	case do == "decide":
		if newer := updatable(chosen); len(newer) > 0 {
			chosen = newer
		}
		h.Redirect(w, r, choices.Path(chosen, r.PostFormValue("back"), nil))
		return
	case do == "check":
		started = h.checkSome(actor, chosen)
	case do == "run":
		id := r.PostFormValue("trigger")
		triggers := triggerOptions(h.service.Components(actor, kind.Trigger))
		i := slices.IndexFunc(triggers, func(t triggerOption) bool { return t.ID == id })
		if i < 0 {
			h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
				Title:  phrase.New("There is no such trigger"),
				Detail: phrase.New("No usable trigger is called %q. Nothing was done.", id), Back: phrase.New("Go to triggers"),
				BackTo: "/triggers",
			})
			return
		}
		if triggers[i].Acts && r.PostFormValue("sure") == "" {
			h.confirm(w, r, id, chosen)
			return
		}
		started = h.runTrigger(actor, id, chosen)
	default:
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: phrase.New("The form is not understood"), Detail: phrase.New("Nothing was done. Load the page again and repeat it."),
		})
		return
	}
	if !started {
		h.RenderError(w, r, http.StatusServiceUnavailable, page.Problem{
			Title: phrase.New("Too much is running"), Detail: phrase.New("Wait until some of it has ended; then repeat it."),
		})
		return
	}
	h.Done(w, r)
}

// updatable returns those of containers that have an update.
func updatable(chosen []sdk.Container) []sdk.Container {
	return slices.DeleteFunc(slices.Clone(chosen), func(c sdk.Container) bool { return !c.UpdateAvailable })
}
