package web

import (
	_ "embed"
	"html/template"
	"net/http"
)

//go:generate go test -run TestAPIPage . -update

// apiDocs is the documentation of the HTTP interface, which TestAPIPage makes of its OpenAPI document.
//
//go:embed apidocs.html
var apiDocs string

func (u *UI) showAPI(w http.ResponseWriter, r *http.Request) {
	u.show(w, r, http.StatusOK, "api", page{Title: "API", Nav: "settings", Content: template.HTML(apiDocs)})
}
