package registryquery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// absentFor is for how long a registry is not asked again for what a digest does not have.
const absentFor = 6 * time.Hour

func manifestKey(repo registry.Repository, digest string, p sdk.Platform) string {
	return fmt.Sprintf("manifest %s/%s@%s %s/%s/%s", repo.Host, repo.Name, digest, p.OS, p.Architecture, p.Variant)
}

// cachedManifest returns what was read of a manifest before.
func cachedManifest(
	ctx context.Context, cache Cache, repo registry.Repository, digest string, p sdk.Platform,
) (registry.Manifest, bool) {
	return cached[registry.Manifest](ctx, cache, manifestKey(repo, digest, p))
}

// manifest fetches what is behind a digest, once and for all; what is not there, once
// in absentFor.
func (cl *Client) manifest(
	ctx context.Context, repo repository, digest string, p sdk.Platform,
) (registry.Manifest, error) {
	key := manifestKey(repo.Repository, digest, p)
	m, read := cached[registry.Manifest](ctx, cl.opt.Cache, key)
	if read {
		return m, nil
	}
	if known, _ := cl.absent.get(key); cl.opt.Now().Before(known.until) {
		return m, known.err
	}
	err := cl.Pull(ctx, repo.Host, func(ctx context.Context) (err error) {
		m, err = repo.match.Registry.Manifest(ctx, repo.Repository, digest, p)
		return err
	})
	switch {
	case err == nil:
		cl.keep(ctx, key, m)
	case errors.Is(err, sdk.ErrNotFound):
		cl.absent.put(key, absence{err, cl.opt.Now().Add(absentFor)})
	}
	return m, err
}

// image is what is known of the image behind a digest where its manifest was not read. It is
// kept in the cache.
type image struct {
	// Digest is that of the platform's own manifest.
	Digest string   `json:"digest"`
	Pushed sdk.Time `json:"pushed,omitzero"`
	// Others are the digests and ids of running images that are known to be other ones.
	Others []string `json:"others,omitempty"`
}

func imageKey(repo registry.Repository, digest string, p sdk.Platform) string {
	return "image of " + manifestKey(repo, digest, p)
}

// cachedImage returns what is known of the image behind a digest.
func cachedImage(
	ctx context.Context, cache Cache, repo registry.Repository, digest string, p sdk.Platform,
) (i image, known bool) {
	i, known = cached[image](ctx, cache, imageKey(repo, digest, p))
	return i, known && i.Digest != ""
}

func (cl *Client) keepImage(ctx context.Context, repo registry.Repository, digest string, p sdk.Platform, i image) {
	cl.keep(ctx, imageKey(repo, digest, p), i)
}

// CachedImage returns the digest of the platform's own manifest behind another digest, when a
// check has found it, without a request.
func CachedImage(
	ctx context.Context, cache Cache, repo registry.Repository, digest string, p sdk.Platform,
) (own string, found bool) {
	if m, read := cachedManifest(ctx, cache, repo, digest, p); read {
		return m.Digest, true
	}
	i, found := cachedImage(ctx, cache, repo, digest, p)
	return i.Digest, found
}
