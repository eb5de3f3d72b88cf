package web

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
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
func (u *UI) showReload(w http.ResponseWriter, r *http.Request) {
	result, err := u.Service.PreviewReload(r.Context(), u.ActorOf(r))
	u.reloaded(w, r, result, err)
}

// reload reloads the configuration.
func (u *UI) reload(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	result, err := u.Service.ReloadConfiguration(r.Context(), u.ActorOf(r))
	u.reloaded(w, r, result, err)
}

func (u *UI) reloaded(w http.ResponseWriter, r *http.Request, result reload.Result, err error) {
	switch {
	case errors.Is(err, reload.ErrUnsupported):
		u.RenderError(w, r, http.StatusConflict, page.Problem{
			Title: "There is nothing to reload", Detail: words.Capital(err.Error()), Back: "To the settings", BackTo: "/settings",
		})
		return
	case errors.Is(err, service.ErrForbidden):
		u.RenderError(w, r, http.StatusForbidden, page.Problem{
			Title: "This is not allowed", Detail: words.Capital(err.Error()), Back: "To the settings", BackTo: "/settings",
		})
		return
	case err != nil:
		u.InternalError(w, r, "reload the configuration", err)
		return
	}
	status := http.StatusOK
	if r.Method == http.MethodPost && !result.Applied {
		status = http.StatusUnprocessableEntity
	}
	p := reloadPage{Result: result, File: u.Service.About().ConfigFile, None: !result.Any()}
	u.Show(w, r, status, "reload", page.Page{Title: "Reload the configuration", Nav: "settings", Content: p})
}
