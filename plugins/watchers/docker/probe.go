package docker

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/sdk"
)

// Probe implements sdk.Prober: it lists the containers and describes the engine.
// It costs two requests, and one more where the watcher may update, since a socket
// proxy may still forbid that. Errors are those of List.
func (d *Docker) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	if _, err := d.engine.containers(ctx, d.all); err != nil {
		return sdk.ProbeResult{}, err
	}
	about, err := d.engine.about(ctx)
	if err != nil || about == "" { // a socket proxy hides it
		about = "an engine at " + d.engine.at.String()
	}
	result := sdk.ProbeResult{Summary: about}
	if d.engine.writes() {
		if can, err := d.updater.capabilities(ctx); err == nil && can.ReadOnly != "" {
			result.Warnings = append(result.Warnings, can.ReadOnly)
		}
	}
	return result, ctx.Err()
}

// about returns what the engine says of itself, such as "Docker/28.5.1 (linux),
// API 1.51". It costs one ping; what a proxy hides is left out.
func (e *engine) about(ctx context.Context) (string, error) {
	return request(ctx, e, connecting, func(ctx context.Context, api *client.Client) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url(api.ClientVersion(), "/_ping"), nil)
		if err != nil {
			return "", err
		}
		request.Header.Set("User-Agent", e.userAgent)
		response, err := e.transport.RoundTrip(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		_, _ = io.CopyN(io.Discard, response.Body, maxMessage) // so that the connection is reused
		var parts []string
		if server := response.Header.Get("Server"); server != "" {
			parts = append(parts, server)
		}
		if version := response.Header.Get("Api-Version"); version != "" {
			parts = append(parts, "API "+version)
		}
		return strings.Join(parts, ", "), nil
	})
}
