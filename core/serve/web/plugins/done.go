package plugins

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// notices are the sentences that the address of the page can select.
var notices = map[string]string{
	"restarted": "%s is being restarted.",
	"trusted":   "%s is trusted as it is now and is being started.",
	"granted":   "%s gets it, and is being started again.",
	"revoked":   "%s has it no more, and is being started again.",
}

// fail renders the error of what a user wanted done with a plugin.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, doing string, err error) {
	if !errors.Is(err, service.ErrNotFound) {
		h.InternalError(w, r, doing, err)
		return
	}
	h.RenderError(w, r, http.StatusNotFound, page.Problem{
		Title:  "There is no such plugin",
		Detail: "No plugin is called " + r.PathValue("name") + ". Its file may be gone since this page was made.",
		Back:   "To the plugins", BackTo: "/plugins",
	})
}

func (h *Handler) done(w http.ResponseWriter, r *http.Request, did, name string) {
	http.Redirect(w, r, h.Path("/plugins?"+url.Values{"did": {did}, "to": {name}}.Encode()), http.StatusSeeOther)
}
