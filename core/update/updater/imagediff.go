package updater

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/internal/imagediff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ImageDiff is what an update would change in the image of a container.
type ImageDiff struct {
	From, To watcher.PlannedImage
	imagediff.Diff
}

// ImageDiff compares the image that a container runs with the one of its update. Both
// are read from the registry, so the watcher need not be one that may update. Nothing is
// changed or pulled, and the configurations are fetched once. The error is an ErrNoUpdate
// when nothing newer is known, and an sdk.ErrUnsupported that says why when one of the
// images cannot be read.
func (r *Runner) ImageDiff(ctx context.Context, c sdk.Container) (ImageDiff, error) {
	var d ImageDiff
	var err error
	if d.From, d.To, err = r.Images(ctx, c); err != nil {
		return ImageDiff{}, err
	}
	owner, repo, err := r.registry(ctx, c)
	if err != nil {
		return ImageDiff{}, err
	}
	before, err := imageConfig(ctx, owner, repo, c, d.From)
	if err != nil {
		return ImageDiff{}, err
	}
	after, err := imageConfig(ctx, owner, repo, c, d.To)
	if err != nil {
		return ImageDiff{}, err
	}
	d.Diff = imagediff.Compare(*before, *after)
	return d, nil
}

// Images returns the image that a container runs and the one of its update, by the digests
// that their registry knows. The error is an ErrNoUpdate when nothing newer is known, and
// an sdk.ErrUnsupported when the image that runs is in no registry.
func (r *Runner) Images(ctx context.Context, c sdk.Container) (from, to watcher.PlannedImage, err error) {
	who := c.Watcher + "/" + c.Name
	if !c.UpdateAvailable {
		return from, to, fmt.Errorf("%s: %w: nothing newer is known", who, ErrNoUpdate)
	}
	if c.Base != nil {
		return from, to, sdk.WithKind(sdk.ErrUnsupported, rebuild(c))
	}
	if c.Image.Digest.Repo == "" {
		return from, to,
			sdk.WithKind(sdk.ErrUnsupported,
				fmt.Errorf("%s: the image that runs was not pulled from a registry, so there is nothing to compare with", who))
	}
	owner, repo, err := r.registry(ctx, c)
	if err != nil {
		return from, to, err
	}
	tag := update.KeyOf(&c).ToTag
	from = watcher.PlannedImage{Reference: reference(c, c.Image.Tag.Value), Digest: c.Image.Digest.Repo, ID: c.Image.ID}
	to = watcher.PlannedImage{Reference: reference(c, tag)}
	if to.Digest, err = owner.Resolve(ctx, repo, tag); err != nil {
		return from, to, fmt.Errorf("resolve %s: %w", to.Reference, err)
	}
	return from, to, nil
}

// imageConfig reads the configuration of an image of a container's repository.
func imageConfig(
	ctx context.Context, owner Registry, repo registry.Repository, c sdk.Container, image watcher.PlannedImage,
) (*sdk.ImageConfig, error) {
	found, err := owner.ImageConfig(ctx, repo, image.Digest, c.Image.Platform())
	switch {
	case errors.Is(err, sdk.ErrNotFound):
		return nil,
			sdk.WithKind(sdk.ErrUnsupported,
				fmt.Errorf("%s@%s is not in its registry any more, so its configuration is not known: %w",
					image.Reference, image.Digest, err))
	case err != nil:
		return nil, fmt.Errorf("read the configuration of %s: %w", image.Reference, err)
	case found == nil:
		return nil,
			sdk.WithKind(sdk.ErrUnsupported,
				fmt.Errorf("the registry of %s cannot read the configurations of images", image.Reference))
	}
	return found, nil
}
