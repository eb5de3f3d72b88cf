package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// libpodAPI is the version of Podman's own API that is spoken: the one of Podman 4.0, which later ones take too
// (https://docs.podman.io/en/latest/_static/api.html).
const libpodAPI = "4.0.0"

// Libpod returns what Podman's own API says of a container, as "podman inspect" does.
func (e *Engine) Libpod(ctx context.Context, id string) (json.RawMessage, error) {
	var document bytes.Buffer
	err := e.do(ctx, endpointCall{"inspect container " + Short(id), "CONTAINERS"}, call{
		method: http.MethodGet, path: "/libpod/containers/" + id + "/json", version: libpodAPI, out: &document,
	})
	return document.Bytes(), err
}

// CreateByLibpod creates a container by Podman's own API, and returns its id.
func (e *Engine) CreateByLibpod(ctx context.Context, what string, spec any) (string, error) {
	var out struct {
		ID string `json:"Id"`
	}
	err := e.do(ctx, endpointCall{what, "POST"}, call{
		method: http.MethodPost, path: "/libpod/containers/create", version: libpodAPI, in: spec, out: &out,
		limit: changeLimit,
	})
	return out.ID, err
}
