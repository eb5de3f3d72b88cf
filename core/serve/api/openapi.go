package api

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPIDocument []byte

// Document returns the OpenAPI document of the interface. It must not be changed.
func Document() []byte { return openAPIDocument }

func (h *handler) openAPI(w http.ResponseWriter, r *http.Request) {
	h.send(w, r, http.StatusOK, "application/yaml; charset=utf-8", openAPIDocument)
}
