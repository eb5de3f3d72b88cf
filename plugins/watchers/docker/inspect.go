package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// facts are what never changes about an image.
type facts struct {
	platform sdk.Platform
	created  sdk.Time
	labels   *brought // nil when they are not known
	made     made
}

// description is what is known of an image at the moment.
type description struct {
	facts
	tags    []string // names that mean this image now
	digests []string // "repository@digest", as the engine got the image
	problem error    // why the rest is missing
}

// inspector inspects images and caches what cannot change.
type inspector struct {
	engine *engine
	log    hclog.Logger

	mu      sync.Mutex
	facts   map[string]facts // by image id
	others  map[otherImage]*brought
	origins map[string]string // by container id: the reference it was created from
}

func newInspector(e *engine, log hclog.Logger) *inspector {
	return &inspector{
		engine: e, log: log,
		facts: map[string]facts{}, others: map[otherImage]*brought{}, origins: map[string]string{},
	}
}

// images describes the image of every container, by image id. One request has the
// names of all images; only images never seen before are requested one by one. An
// image that the engine does not describe has a problem; the error means that the
// engine cannot be reached.
func (i *inspector) images(ctx context.Context, containers []container.Summary) (map[string]description, error) {
	var ids []string
	for _, c := range containers {
		ids = append(ids, c.ImageID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	listed, err := i.engine.images(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case hasStatus(err, http.StatusForbidden):
		all := map[string]description{}
		for _, id := range ids {
			all[id] = description{problem: err}
		}
		return all, nil
	case err != nil && !isResponse(err) && !errors.Is(err, context.DeadlineExceeded):
		return nil, err
	case err != nil: // one damaged image spoils the list for all, and some engines are slow to make it
		i.log.Debug("images are asked for one by one", "error", err)
	}
	byID := map[string]image.Summary{}
	for _, s := range listed {
		byID[s.ID] = s
	}

	found := make([]description, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for n, id := range ids {
		s, listed := byID[id]
		if known, cached := i.known(id); listed && cached {
			found[n] = description{facts: known, tags: names(s.RepoTags), digests: names(s.RepoDigests)}
			continue
		}
		group.Go(func() (err error) {
			found[n], err = i.inspect(ctx, id)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := map[string]description{}
	for n, id := range ids {
		all[id] = found[n]
	}
	return all, nil
}

func (i *inspector) known(imageID string) (facts, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f, met := i.facts[imageID]
	return f, met
}

func (i *inspector) inspect(ctx context.Context, imageID string) (description, error) {
	if imageID == "" {
		return description{problem: fmt.Errorf("the engine does not say which image this container runs")}, nil
	}
	got, built, err := i.engine.imageBuilt(ctx, imageID)
	switch {
	case hasStatus(err, http.StatusNotFound):
		return description{
			problem: fmt.Errorf("image %s is no longer in the engine: recreate the container", short(imageID)),
		}, nil
	case isResponse(err):
		return description{problem: err}, nil
	case err != nil:
		return description{}, err
	}
	labels := labelsOf(got)
	f := facts{platform: platformOf(got), labels: newBrought(labels), made: made{
		composed: labels[compose.LabelProject] != "", tagged: !got.Metadata.LastTagTime.IsZero(), identified: built,
	}}
	if t, err := time.Parse(time.RFC3339Nano, got.Created); err == nil && t.Year() > 1 {
		f.created = sdk.TimeOf(t)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.facts[imageID] = f
	return description{facts: f, tags: names(got.RepoTags), digests: names(got.RepoDigests)}, nil
}

// reference returns the image reference that a container was created from.
//
// The engine's list has it, except when the reference means another image by now (its
// tag was pulled again) or when the container was created from an image id: then the
// list has the id. In the first case the container itself still knows; in the second
// one of the image's own names must do.
func (i *inspector) reference(ctx context.Context, c container.Summary, about description) (string, error) {
	if !isID(c.Image, c.ImageID, about.tags) {
		return c.Image, nil
	}
	origin, err := i.origin(ctx, c.ID)
	switch {
	case err != nil:
		return "", err
	case origin != "" && !isID(origin, c.ImageID, about.tags):
		return origin, nil
	case len(about.tags) > 0:
		return about.tags[0], nil
	case len(about.digests) > 0:
		return about.digests[0], nil
	}
	return "", nil
}

// origin returns what a container was created from, by one request; "" when the engine does not say.
func (i *inspector) origin(ctx context.Context, containerID string) (string, error) {
	i.mu.Lock()
	origin, met := i.origins[containerID]
	i.mu.Unlock()
	if met {
		return origin, nil
	}
	got, err := i.engine.container(ctx, containerID)
	switch {
	case isResponse(err):
		i.log.Debug("the original image of a container is not known", "container", containerID, "error", err)
		return "", nil
	case err != nil:
		return "", err
	case got.Config == nil:
		return "", nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.origins[containerID] = got.Config.Image
	return got.Config.Image, nil
}

// keepOnly forgets what no container of the list needs.
func (i *inspector) keepOnly(containers []container.Summary) {
	i.mu.Lock()
	defer i.mu.Unlock()
	usedFacts, usedOrigins, usedOthers := map[string]facts{}, map[string]string{}, map[otherImage]*brought{}
	for _, c := range containers {
		if f, met := i.facts[c.ImageID]; met {
			usedFacts[c.ImageID] = f
			platform, _ := otherPlatform(f.platform, c.ImageManifestDescriptor)
			key := otherImage{c.ImageID, platform}
			if labels, met := i.others[key]; met {
				usedOthers[key] = labels
			}
		}
		if o, met := i.origins[c.ID]; met {
			usedOrigins[c.ID] = o
		}
	}
	i.facts, i.origins, i.others = usedFacts, usedOrigins, usedOthers
}

// image is the part of the container's image that does not come from its reference.
func (d description) image(c container.Summary) watcher.Image {
	out := watcher.Image{ID: c.ImageID, Platform: d.platform, Created: d.created, Digests: d.digests}
	// An engine that stores several platforms of an image says which one this container runs (API 1.48).
	if m := c.ImageManifestDescriptor; m != nil && m.Platform != nil && m.Platform.Architecture != "" {
		out.Platform = sdk.Platform{OS: m.Platform.OS, Architecture: m.Platform.Architecture, Variant: m.Platform.Variant}
	}
	return out
}

// names drops "<none>:<none>" and "<none>@<none>", which engines before API 1.43 list for images without a name.
func names(list []string) (named []string) {
	for _, s := range list {
		if !strings.HasPrefix(s, "<none>") {
			named = append(named, s)
		}
	}
	return named
}

// containerName is the container's own name without its slash. Legacy links add
// names like "/web/db" for the container "/db".
func containerName(c container.Summary) string {
	for _, n := range c.Names {
		if own := strings.TrimPrefix(n, "/"); own != "" && !strings.Contains(own, "/") {
			return own
		}
	}
	if len(c.Names) > 0 && len(c.Names[0]) > 1 {
		return strings.TrimPrefix(c.Names[0], "/")
	}
	return short(c.ID)
}

// createdAt is when the container was created, to the second; zero when the engine does not say.
func createdAt(c container.Summary) (t sdk.Time) {
	if c.Created > 0 {
		t = sdk.TimeOf(time.Unix(c.Created, 0))
	}
	return t
}

// short is an id as engines show it: twelve digits.
func short(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(len(id), 12)]
}
