package settings

import (
	_ "embed"
	"html/template"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

//go:generate go test -run TestAPIPage . -update

// apiDocs is the documentation of the HTTP interface, which TestAPIPage makes of its OpenAPI document.
//
//go:embed apidocs.html
var apiDocs string

func (h *Handler) showAPI(w http.ResponseWriter, r *http.Request) {
	h.Show(w, r, http.StatusOK, "api", page.Page{Title: phrase.New("API"), Nav: "settings", Content: template.HTML(apiDocs)})
}
