package registryquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// cachedManifest returns what was read of a manifest before.
func cachedManifest(
	ctx context.Context, cache Cache, repo registry.Repository, digest string, p sdk.Platform,
) (m registry.Manifest, found bool) {
	_, body, cached := cache.Get(ctx, manifestKey(repo, digest, p))
	return m, cached && json.Unmarshal(body, &m) == nil
}

func manifestKey(repo registry.Repository, digest string, p sdk.Platform) string {
	return fmt.Sprintf("manifest %s/%s@%s %s/%s/%s", repo.Host, repo.Name, digest, p.OS, p.Architecture, p.Variant)
}

// manifest fetches what is behind a digest, once and for all; what is not there, once
// in absentFor.
func (cl *Client) manifest(
	ctx context.Context, at repository, digest string, p sdk.Platform,
) (registry.Manifest, error) {
	m, cached := cachedManifest(ctx, cl.opt.Cache, at.repo, digest, p)
	if cached {
		return m, nil
	}
	key := manifestKey(at.repo, digest, p)
	if err := cl.absent.get(key, cl.opt.Now()); err != nil {
		return m, err
	}
	err := cl.limiter.pull(ctx, at.repo.Host, func(ctx context.Context) (err error) {
		m, err = at.match.Registry.Manifest(ctx, at.repo, digest, p)
		return err
	})
	if err != nil {
		if errors.Is(err, sdk.ErrNotFound) {
			cl.absent.put(key, err, cl.opt.Now())
		}
		return m, err
	}
	if body, err := json.Marshal(m); err == nil {
		cl.opt.Cache.Put(ctx, key, "", body)
	}
	return m, nil
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
	_, body, cached := cache.Get(ctx, imageKey(repo, digest, p))
	return i, cached && json.Unmarshal(body, &i) == nil && i.Digest != ""
}

func (cl *Client) keepImage(ctx context.Context, repo registry.Repository, digest string, p sdk.Platform, i image) {
	if body, err := json.Marshal(i); err == nil {
		cl.opt.Cache.Put(ctx, imageKey(repo, digest, p), "", body)
	}
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
