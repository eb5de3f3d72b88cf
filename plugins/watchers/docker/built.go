package docker

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
)

// imageOrigin is how an image came to its engine, as far as that says so.
type imageOrigin struct {
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
	case about.origin.identified && ref.Domain == "" && ref.Digest == "", about.origin.composed && isOfficial(ref):
		return true
	case ref.Domain != "" || ref.Digest != "" || len(about.digests) > 0:
		return false
	}
	return about.origin.composed || about.origin.tagged || isComposeName(ref.Path, labels)
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
