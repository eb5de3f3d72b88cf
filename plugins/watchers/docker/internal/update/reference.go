package update

import (
	"context"
	"net/http"

	"github.com/docker/docker/api/types/image"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// target is the image reference of the new container: as the user wrote the old one,
// without the host if that had none, and with the digest if that had one.
func target(old string, image watcher.TargetImage) (string, error) {
	ref, err := engine.ParseReference(image.Reference)
	if err != nil {
		return "", err
	}
	was, err := engine.ParseReference(old)
	if err != nil {
		return image.Reference, nil
	}
	ref = engine.WrittenAs(ref, was)
	switch {
	case was.Digest == "":
		ref.Digest = ""
	case image.Digest != "": // otherwise, of a rollback, the one that its reference has
		ref.Digest = image.Digest
	}
	return ref.String(), nil
}

// exact returns the reference of an image with its digest, if that is known.
func (u *Updater) exact(ctx context.Context, image watcher.TargetImage) (string, error) {
	ref, err := engine.ParseReference(image.Reference)
	if err != nil || ref.Digest != "" {
		return image.Reference, nil // Edit says what is wrong with it
	}
	ref.Digest = image.Digest
	if ref.Digest != "" || image.ID == "" {
		return ref.String(), nil
	}
	found, err := u.imageOf(ctx, image.ID)
	if err != nil || found == nil {
		return ref.String(), err
	}
	for _, name := range found.Digests {
		if other, err := engine.ParseReference(name); err == nil && other.Name() == ref.Name() {
			ref.Digest = other.Digest
		}
	}
	return ref.String(), nil
}

// imageOf returns an image; nil when there is none of that name.
func (u *Updater) imageOf(ctx context.Context, name string) (*replace.Image, error) {
	got, err := u.engine.Image(ctx, name)
	switch {
	case engine.HasStatus(err, http.StatusNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return imageFrom(got), nil
}

func imageFrom(got image.InspectResponse) *replace.Image {
	return &replace.Image{
		ID: got.ID, Config: got.Config, Platform: got.Os + "/" + got.Architecture,
		Tags: engine.Named(got.RepoTags), Digests: engine.Named(got.RepoDigests),
	}
}
