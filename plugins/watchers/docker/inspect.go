package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// facts are what never changes about an image.
type facts struct {
	platform sdk.Platform
	created  sdk.Time
	labels   *labelProvenance // nil when they are not known
	origin   imageOrigin
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
	engine *engine.Engine
	log    hclog.Logger

	mu      sync.Mutex
	facts   map[string]facts // by image id
	others  map[otherImage]*labelProvenance
	origins map[string]string // by container id: the reference it was created from
}

func newInspector(e *engine.Engine, log hclog.Logger) *inspector {
	return &inspector{
		engine: e, log: log,
		facts: map[string]facts{}, others: map[otherImage]*labelProvenance{}, origins: map[string]string{},
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
	listed, err := i.engine.Images(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case engine.HasStatus(err, http.StatusForbidden):
		all := map[string]description{}
		for _, id := range ids {
			all[id] = description{problem: err}
		}
		return all, nil
	case err != nil && !engine.IsResponse(err) && !errors.Is(err, context.DeadlineExceeded):
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
	group.SetLimit(engine.Concurrency)
	for n, id := range ids {
		s, listed := byID[id]
		if known, cached := i.known(id); listed && cached {
			found[n] = description{facts: known, tags: engine.Named(s.RepoTags), digests: engine.Named(s.RepoDigests)}
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
	got, built, err := i.engine.ImageBuilt(ctx, imageID)
	switch {
	case engine.HasStatus(err, http.StatusNotFound):
		return description{
			problem: fmt.Errorf("image %s is no longer in the engine: recreate the container", engine.Short(imageID)),
		}, nil
	case engine.IsResponse(err):
		return description{problem: err}, nil
	case err != nil:
		return description{}, err
	}
	labels := labelsOf(got)
	f := facts{platform: engine.PlatformOf(got), labels: newLabelProvenance(labels), origin: imageOrigin{
		composed: labels[compose.LabelProject] != "", tagged: !got.Metadata.LastTagTime.IsZero(), identified: built,
	}}
	if t, err := time.Parse(time.RFC3339Nano, got.Created); err == nil && t.Year() > 1 {
		f.created = sdk.TimeOf(t)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.facts[imageID] = f
	return description{facts: f, tags: engine.Named(got.RepoTags), digests: engine.Named(got.RepoDigests)}, nil
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
	got, err := i.engine.Container(ctx, containerID)
	switch {
	case engine.IsResponse(err):
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
	usedFacts, usedOrigins, usedOthers := map[string]facts{}, map[string]string{}, map[otherImage]*labelProvenance{}
	for _, c := range containers {
		if f, met := i.facts[c.ImageID]; met {
			usedFacts[c.ImageID] = f
			platform, _ := engine.OtherPlatform(f.platform, c.ImageManifestDescriptor)
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

// createdAt is when the container was created, to the second; zero when the engine does not say.
func createdAt(c container.Summary) (t sdk.Time) {
	if c.Created > 0 {
		t = sdk.TimeOf(time.Unix(c.Created, 0))
	}
	return t
}
