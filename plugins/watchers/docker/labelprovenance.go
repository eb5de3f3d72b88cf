package docker

import (
	"context"
	"hash/maphash"
	"slices"

	"github.com/docker/docker/api/types/image"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk"
)

// labelProvenance is who set the labels of a container: it has those that its image brings, as hashes of their names
// and values, which recognize them whatever their size. It is nil where they are not known.
type labelProvenance struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

func newLabelProvenance(labels map[string]string) *labelProvenance {
	b := &labelProvenance{maphash.MakeSeed(), make(map[uint64]struct{}, len(labels))}
	for name, value := range labels {
		b.hashes[b.hash(name, value)] = struct{}{}
	}
	return b
}

func (b *labelProvenance) hash(name, value string) uint64 {
	return maphash.Comparable(b.seed, [2]string{name, value})
}

// has reports whether a label of a container may be that of its image.
func (b *labelProvenance) has(name, value string) bool {
	if b == nil {
		return true
	}
	_, found := b.hashes[b.hash(name, value)]
	return found
}

// names returns those of a container's labels that its image brings, sorted.
func (b *labelProvenance) names(labels map[string]string) (names []string) {
	for name, value := range labels {
		if b.has(name, value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Counting returns the labels of a container that say something about it, see
// replace.Counting. An image that was not inspected before is inspected now instead of at
// the next listing; the error means that the engine cannot be reached.
func (i *inspector) Counting(
	ctx context.Context, labels map[string]string, imageID string, own *ocispec.Descriptor,
) (map[string]string, error) {
	f, known := i.known(imageID)
	if !known {
		about, err := i.inspect(ctx, imageID)
		if err != nil {
			return nil, err
		}
		f = about.facts
	}
	image, err := i.provenance(ctx, imageID, f, own)
	return replace.Counting(labels, image.has), err
}

// provenance returns the labels that a container has from its image. The facts are those of
// the image as the engine describes it unasked; where the container runs that of another
// platform, own says which, and the engine is asked about that.
func (i *inspector) provenance(
	ctx context.Context, imageID string, f facts, own *ocispec.Descriptor,
) (*labelProvenance, error) {
	other, differs := engine.OtherPlatform(f.platform, own)
	if f.labels == nil || !differs {
		return f.labels, nil
	}
	key := otherImage{imageID, other}
	i.mu.Lock()
	labels := i.others[key]
	i.mu.Unlock()
	if labels != nil {
		return labels, nil
	}
	got, found, err := i.engine.ImageFor(ctx, imageID, other)
	if err != nil || !found {
		return nil, err
	}
	labels = newLabelProvenance(labelsOf(got))
	i.mu.Lock()
	defer i.mu.Unlock()
	i.others[key] = labels
	return labels, nil
}

// otherImage is one platform of an image that has several.
type otherImage struct {
	id       string
	platform sdk.Platform
}

// labelsOf returns the labels of an image; none for one without a configuration.
func labelsOf(got image.InspectResponse) map[string]string {
	if got.Config == nil {
		return nil
	}
	return got.Config.Labels
}
