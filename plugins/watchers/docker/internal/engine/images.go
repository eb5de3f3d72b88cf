package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/sdk"
)

// identityAPI is the version of the API since which the image store of containerd says that
// (Docker Engine 29.2; ImageInspect of https://github.com/moby/moby/blob/master/api/swagger.yaml).
const identityAPI = "1.53"

// imageOrigin is what such an engine says of where an image is from.
type imageOrigin struct {
	Identity struct {
		// Build has the builds by BuildKit, Pull the repositories that the image was pulled from or pushed to.
		Build, Pull []json.RawMessage
	}
}

// ImageBuilt inspects an image, and reports whether the engine says that it has built it, and never pulled or
// pushed it.
func (e *Engine) ImageBuilt(ctx context.Context, id string) (got image.InspectResponse, built bool, err error) {
	var document bytes.Buffer
	op := endpointCall{"inspect image " + Short(id), "IMAGES"}
	got, err = request(ctx, e, op, func(ctx context.Context, api *client.Client) (image.InspectResponse, error) {
		e.mu.Lock()
		if e.identity != nil {
			api = e.identity
		}
		e.mu.Unlock()
		document.Reset()
		return api.ImageInspect(ctx, id, client.ImageInspectWithRawResponse(&document))
	})
	if err != nil {
		return got, false, err
	}
	var from imageOrigin
	if err := json.Unmarshal(document.Bytes(), &from); err != nil {
		from = imageOrigin{} // what the client could read, another version writes in another way
	}
	return got, len(from.Identity.Build) > 0 && len(from.Identity.Pull) == 0, nil
}

func (e *Engine) Images(ctx context.Context) ([]image.Summary, error) {
	return request(ctx, e, endpointCall{"list images", "IMAGES"},
		func(ctx context.Context, api *client.Client) ([]image.Summary, error) {
			return api.ImageList(ctx, image.ListOptions{})
		})
}

func (e *Engine) Image(ctx context.Context, id string) (image.InspectResponse, error) {
	return request(ctx, e, endpointCall{"inspect image " + Short(id), "IMAGES"},
		func(ctx context.Context, api *client.Client) (image.InspectResponse, error) {
			return api.ImageInspect(ctx, id)
		})
}

// ImageFor inspects one platform of an image; it finds none where the engine cannot tell
// platforms apart (API 1.49), or does not have that one.
func (e *Engine) ImageFor(
	ctx context.Context, id string, p sdk.Platform,
) (got image.InspectResponse, found bool, err error) {
	api, err := e.Connect(ctx)
	if err != nil || versions.LessThan(api.ClientVersion(), "1.49") {
		return got, false, err
	}
	op := endpointCall{"inspect image " + Short(id) + " for " + p.OS + "/" + p.Architecture, "IMAGES"}
	got, err = request(ctx, e, op, func(ctx context.Context, api *client.Client) (image.InspectResponse, error) {
		wanted := ocispec.Platform{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant}
		return api.ImageInspect(ctx, id, client.ImageInspectWithPlatform(&wanted))
	})
	if IsResponse(err) {
		return got, false, nil
	}
	return got, err == nil && plainPlatform(PlatformOf(got)) == p, err
}

func (e *Engine) RemoveImage(ctx context.Context, id string) error {
	return e.do(ctx, endpointCall{"remove image " + Short(id), "DELETE"}, call{
		method: http.MethodDelete, path: "/images/" + id, limit: changeLimit,
	})
}
