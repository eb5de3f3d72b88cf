package enginesim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// Image is an image of the engine.
type Image struct {
	ID           string   // derived from the other fields when empty
	Tags         []string // "nginx:1.25"; an image added later takes them away
	Digests      []string // "nginx@sha256:…"
	OS           string   // "" means linux
	Architecture string   // "" means amd64
	Variant      string
	Created      time.Time
	Size         int64             // in bytes; 0 means 1 MiB
	Labels       map[string]string // which its containers get, too
	// Builds and Pulls are what an engine with containerd's store says of where it is from (API 1.53).
	Builds, Pulls []string
	// Config is what else its containers get; its Labels do not count.
	Config dockerspec.DockerOCIImageConfig
	// Program is what its containers do.
	Program Program
	// Platforms are further ones under the same id, as an engine with containerd's store
	// has them. A container runs one of them if its Platform says so.
	Platforms []Image
}

// platform returns the image for a platform such as "linux/arm64"; itself for "".
func (i *Image) platform(name string) *Image {
	for n := range i.Platforms {
		if p := &i.Platforms[n]; p.OS+"/"+p.Architecture == name {
			return p
		}
	}
	return i
}

// AddImage adds an image, as pulling or building does, and returns its id. Its tags
// move to it from the images that had them.
func (e *Engine) AddImage(i Image) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.addImage(i)
}

func (e *Engine) addImage(i Image) string {
	if i.ID == "" {
		i.ID = Digest(fmt.Sprint("image ", i.Tags, i.Digests, i.OS, i.Architecture, i.Variant, i.Created))
	}
	if i.OS == "" {
		i.OS = "linux"
	}
	i.Architecture = cmp.Or(i.Architecture, "amd64")
	tags := i.Tags
	i.Tags = nil
	if known := e.images[i.ID]; known != nil { // which keeps its names
		i.Tags = known.Tags
		i.Digests = slices.Compact(slices.Sorted(slices.Values(slices.Concat(known.Digests, i.Digests))))
		*known = i
	} else {
		e.images[i.ID] = &i
	}
	for _, t := range tags {
		e.tag(e.images[i.ID], tagged(t))
	}
	return i.ID
}

// tag gives an image a tag, which it takes away from another one.
func (e *Engine) tag(i *Image, tag string) {
	if other := e.tags[tag]; other != nil {
		other.Tags = slices.DeleteFunc(other.Tags, func(t string) bool { return t == tag })
	}
	i.Tags, e.tags[tag] = append(i.Tags, tag), i
}

// RemoveImage removes an image, also from under its containers.
func (e *Engine) RemoveImage(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.removeImage(id)
}

func (e *Engine) removeImage(id string) {
	if i := e.images[id]; i != nil {
		for _, t := range i.Tags {
			delete(e.tags, t)
		}
		delete(e.images, id)
	}
}

// resolve returns the image that a reference means: a tag, a digest, or an id or its beginning.
func (e *Engine) resolve(ref string) *Image {
	if i := e.named(ref); i != nil {
		return i
	}
	return e.named(familiar(ref))
}

// familiar is a reference without what it need not say: "nginx:1.25" for "docker.io/library/nginx:1.25".
func familiar(ref string) string {
	r, err := reference.Parse(ref)
	if err != nil {
		return ref
	}
	return reference.Short(r.Domain, r.Path) + strings.TrimPrefix(r.String(), r.Name())
}

// named is resolve for a reference that is written as that of the image.
func (e *Engine) named(ref string) *Image {
	if i, ok := e.images[ref]; ok {
		return i
	}
	if i, ok := e.tags[tagged(ref)]; ok {
		return i
	}
	pinned, digest, isPinned := strings.Cut(ref, "@")
	for id, i := range e.images {
		if !isPinned && len(ref) >= 4 && strings.HasPrefix(strings.TrimPrefix(id, "sha256:"), ref) {
			return i
		}
		for _, d := range i.Digests {
			repository, own, _ := strings.Cut(d, "@")
			if isPinned && own == digest && (pinned == repository || strings.HasPrefix(pinned, repository+":")) {
				return i
			}
		}
	}
	return nil
}

// tagged adds the tag that a reference without one means.
func tagged(ref string) string {
	if strings.Contains(ref, "@") || strings.Contains(ref[strings.LastIndexByte(ref, '/')+1:], ":") {
		return ref
	}
	return ref + ":latest"
}
