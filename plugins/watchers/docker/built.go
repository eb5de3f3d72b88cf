package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
)

// made is how an image came to its engine, as far as that says so.
type made struct {
	// composed is whether Docker Compose has built it, here or elsewhere: since version 2 it marks images
	// as it does containers (getImageBuildLabels of https://github.com/docker/compose).
	composed bool
	// tagged is whether it was given a name on this engine, as builds, commits and imports do. The
	// classic image store sets the time of the last tag then only, and neither when it pulls nor when it
	// loads an image (daemon/images/image_tag.go of https://github.com/moby/moby). That of containerd sets it
	// always, but has digests of all its images, so that it says nothing there: see isBuilt.
	tagged bool
	// identified is whether the engine says that it has built the image, and never pulled or pushed it.
	identified bool
}

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

// imageBuilt inspects an image, and reports whether the engine says that it has built it, and never pulled or
// pushed it.
func (e *engine) imageBuilt(ctx context.Context, id string) (got image.InspectResponse, built bool, err error) {
	var document bytes.Buffer
	op := operation{"inspect image " + short(id), "IMAGES"}
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

// isBuilt reports whether an image was made on its engine's machine, by what is certain alone.
//
// The classic image store has a digest of what it pulled or pushed, and of nothing else. An image without
// one whose name has no registry is built here if it was tagged here, or if it is one of Docker Compose: by
// its label, or by the name that Compose gives to what it builds. What was loaded from a file, with neither,
// may be an image of Docker Hub.
//
// The image store of containerd has digests of all images. The engine itself says there what BuildKit has built, from
// identityAPI on; and what Compose has built is known by its label and a name that on Docker Hub only the
// official images have, which Compose does not build.
func isBuilt(ref reference.Reference, about description, labels map[string]string) bool {
	switch {
	case about.made.identified && ref.Domain == "" && ref.Digest == "", about.made.composed && isOfficial(ref):
		return true
	case ref.Domain != "" || ref.Digest != "" || len(about.digests) > 0:
		return false
	}
	return about.made.composed || about.made.tagged || isComposeName(ref.Path, labels)
}

// isOfficial reports whether a reference names an official image of Docker Hub, or none.
func isOfficial(ref reference.Reference) bool {
	return strings.HasPrefix(ref.Canonical().Name(), reference.DefaultDomain+"/library/")
}

// isComposeName reports whether Docker Compose gives that name to the image that it builds for a
// container: project-service, or project_service in version 1.
func isComposeName(name string, labels map[string]string) bool {
	project, service := labels[compose.LabelProject], labels[compose.LabelService]
	return project != "" && service != "" && slices.Contains([]string{project + "-" + service, project + "_" + service},
		name)
}
