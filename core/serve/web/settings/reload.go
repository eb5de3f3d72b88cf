package settings

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// reloadPage shows what a reload of the configuration would change, or has changed.
type reloadPage struct {
	reload.Result
	// File is the configuration file; "" when there is none.
	File string
	// None is true when there is nothing to change.
	None bool
}

// showReload shows what a reload would change.
func (h *Handler) showReload(w http.ResponseWriter, r *http.Request) {
	result, err := h.service.PreviewReload(r.Context(), h.ActorOf(r))
	h.reloaded(w, r, result, err)
}

// reload reloads the configuration.
func (h *Handler) reload(w http.ResponseWriter, r *http.Request) {
	result, err := h.service.ReloadConfiguration(r.Context(), h.ActorOf(r))
	h.reloaded(w, r, result, err)
}

func (h *Handler) reloaded(w http.ResponseWriter, r *http.Request, result reload.Result, err error) {
	if err != nil {
		h.Finish(w, r, err, "reload the configuration", "", forbidden,
			problem(reload.ErrUnsupported, phrase.New("There is nothing to reload"), nil))
		return
	}
	status := http.StatusOK
	if r.Method == http.MethodPost && !result.Applied {
		status = http.StatusUnprocessableEntity
	}
	p := reloadPage{Result: result, File: h.service.About().ConfigFile, None: !result.Any()}
	h.Show(w, r, status, "reload", page.Page{Title: phrase.New("Reload the configuration"), Nav: "settings", Content: p})
}
