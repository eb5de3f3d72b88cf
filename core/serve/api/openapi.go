package api

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPIDocument []byte

func (h *handler) openAPI(w http.ResponseWriter, r *http.Request) {
	h.send(w, r, http.StatusOK, "application/yaml; charset=utf-8", openAPIDocument)
}
