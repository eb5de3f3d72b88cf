package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// Named drops "<none>:<none>" and "<none>@<none>", which engines before API 1.43 list for images without a name.
func Named(list []string) (named []string) {
	for _, s := range list {
		if !strings.HasPrefix(s, "<none>") {
			named = append(named, s)
		}
	}
	return named
}

// Name is the container's own name without its slash. Legacy links add
// names like "/web/db" for the container "/db".
func Name(c container.Summary) string {
	for _, n := range c.Names {
		if own := strings.TrimPrefix(n, "/"); own != "" && !strings.Contains(own, "/") {
			return own
		}
	}
	if len(c.Names) > 0 && len(c.Names[0]) > 1 {
		return strings.TrimPrefix(c.Names[0], "/")
	}
	return Short(c.ID)
}

// Short is an id as engines show it: twelve digits.
func Short(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(len(id), 12)]
}

// ParseReference takes an image reference apart as it is written: the host expands it.
func ParseReference(text string) (reference.Reference, error) {
	ref, err := reference.Split(text)
	switch {
	case text == "":
		return ref, errors.New("the image of this container has no name: recreate the container from a named image")
	case err != nil:
		return ref,
			fmt.Errorf("%.300q is not an image reference: recreate the container from an image named like registry.example.org/name:tag", text)
	}
	return ref, nil
}

// WrittenAs writes a reference as another one is written: without its host where that has none, for Docker Hub.
func WrittenAs(ref, was reference.Reference) reference.Reference {
	if canonical := ref.Canonical(); was.Domain == "" && canonical.Domain == reference.DefaultDomain {
		ref.Domain, ref.Path = "", strings.TrimPrefix(canonical.Path, "library/")
	}
	return ref
}

// Runs reports whether the engine lists a container among those that run
// (https://docs.docker.com/reference/api/engine/version/v1.51/#tag/Container/operation/ContainerList).
func Runs(c container.Summary) bool {
	switch c.State {
	case container.StateRunning, container.StatePaused, container.StateRestarting:
		return true
	}
	return false
}
