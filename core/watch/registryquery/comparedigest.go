package registryquery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// maxOthers bounds the images of which it is kept that they are not another one.
const maxOthers = 20

// compare decides whether the running image is what digest means for its
// platform. A new index with the same image inside is no update. What is behind
// the digest matters for that alone: a manifest that cannot be read is another
// image if its digest is another.
func (cl *Client) compare(ctx context.Context, repo repository, q *Question, digest string) (*candidate.Digest, error) {
	img := *q.Image()
	own := candidate.Digests(img)
	if slices.Contains(own, digest) || img.Digest.Repo == digest || img.ID == digest {
		return &candidate.Digest{Remote: digest, Same: true}, nil
	}
	if q.Container.Base != nil && withoutDigest(img) {
		return cl.compareDates(ctx, repo, q, digest)
	}
	if _, read := cachedManifest(ctx, cl.opt.Cache, repo.Repository, digest, img.Platform()); !read {
		if d := cl.compareDescribed(ctx, repo, q, digest); d != nil {
			return d, nil
		}
	}
	m, err := cl.manifest(ctx, repo, digest, img.Platform())
	if err != nil {
		return nil, err
	}
	if withoutDigest(img) && m.Config == "" && m.Digest != img.ID {
		q.Answer.Uncompared = "the engine has only the id of the image, " +
			"which the manifest behind the tag does not name"
		return nil, nil
	}
	same := slices.Contains(own, m.Digest) || img.ID != "" && (img.ID == m.Config || img.ID == m.Digest)
	if !same && (slices.Contains(own, img.ID) || img.ID != "" && img.ID == img.Digest.Repo) {
		same, err = cl.sameInside(ctx, repo, img, m)
	}
	if !same && err == nil && repo.match.Describer != nil {
		cl.keepOther(ctx, repo, q, digest, image{Digest: m.Digest, Pushed: m.Created}) // not before
	}
	return &candidate.Digest{
		Remote: digest, Inside: []string{m.Digest, m.Config}, Same: same, Created: m.Created,
		Version: candidate.Version(m.Version),
	}, err
}

// sameInside is for engines whose image id is the digest of the index
// (containerd's image store): only the registry knows what was inside. That it
// has deleted the old index by now is no failure.
func (cl *Client) sameInside(
	ctx context.Context, repo repository, img sdk.Image, remote registry.Manifest,
) (bool, error) {
	local, err := cl.manifest(ctx, repo, img.ID, img.Platform())
	if errors.Is(err, sdk.ErrNotFound) {
		return false, nil
	}
	return err == nil && local.Digest == remote.Digest, err
}

// compareDescribed is compare without a pull; nil when that does not suffice: when it stays
// open whether the image behind digest is another one than runs, or when rules depend on its
// version and no tag says that.
func (cl *Client) compareDescribed(ctx context.Context, repo repository, q *Question, digest string) *candidate.Digest {
	img := *q.Image()
	p := img.Platform()
	i, known := cachedImage(ctx, cl.opt.Cache, repo.Repository, digest, p)
	if !known {
		t, described := cl.describe(ctx, repo, img.Tag.Value, digest, p)
		if !described || t.Image == "" {
			return nil
		}
		i = image{Digest: t.Image, Pushed: t.Pushed}
		cl.keepVersions(ctx, repo, q, digest)
	}
	d := &candidate.Digest{Remote: digest, Inside: []string{i.Digest}, Created: i.Pushed}
	own := candidate.IDs(img)
	if d.Same = slices.Contains(own, i.Digest); !d.Same && !i.isOther(own) {
		running := cl.runningImage(ctx, repo, own, p)
		if running == "" && !i.Pushed.After(cl.existed(ctx, repo, q, own)) {
			return nil // it may be the one that runs, below another index
		}
		d.Same = running == i.Digest
	}
	switch {
	case d.Same:
		cl.keepImage(ctx, repo.Repository, digest, p, i)
	case cl.needsVersion(ctx, repo, q, digest):
		return nil
	default:
		cl.keepOther(ctx, repo, q, digest, i)
	}
	return d
}

// isOther reports whether the image is known to be another one than one with such digests.
func (i image) isOther(own []string) bool {
	return slices.ContainsFunc(own, func(o string) bool { return slices.Contains(i.Others, o) })
}

// keepOther keeps that the image behind a digest is not the one that runs.
func (cl *Client) keepOther(ctx context.Context, repo repository, q *Question, digest string, i image) {
	own := candidate.IDs(*q.Image())
	if i.Others = append(i.Others, own...); len(i.Others) > maxOthers {
		i.Others = own
	}
	slices.Sort(i.Others)
	i.Others = slices.Compact(i.Others)
	cl.keepImage(ctx, repo.Repository, digest, q.Image().Platform(), i)
}

// existed is when the running image is known to have existed: when its container was created, or
// when a check compared it with what was behind its tag; far in the future when neither is known.
// What was pushed later is another one.
func (cl *Client) existed(ctx context.Context, repo repository, q *Question, own []string) time.Time {
	c := q.Container
	if !c.Created.IsZero() && !c.Created.Before(c.Image.Created.Time) { // else the clock was wrong
		return c.Created.Time
	}
	if c.Result != nil && c.Check.State == sdk.CheckOK {
		i, _ := cachedImage(ctx, cl.opt.Cache, repo.Repository, c.Result.Digest, c.Image.Platform())
		if slices.Contains(own, c.Result.Digest) || i.isOther(own) {
			return c.Check.At.Time
		}
	}
	return time.Unix(1<<40, 0)
}

// runningImage returns the digest of the running platform's own manifest; "" when it is not known.
func (cl *Client) runningImage(ctx context.Context, repo repository, own []string, p sdk.Platform) string {
	for _, digest := range own {
		if found, known := CachedImage(ctx, cl.opt.Cache, repo.Repository, digest, p); known {
			return found
		}
	}
	if repo.match.Describer == nil {
		return ""
	}
	// Another tag may still have the index that runs.
	for _, t := range cl.newest(ctx, repo, p).tags {
		if t.Image != "" && slices.Contains(own, t.Digest) {
			cl.keepImage(ctx, repo.Repository, t.Digest, p, image{Digest: t.Image, Pushed: t.Pushed})
			return t.Image
		}
	}
	return ""
}

// compareDates compares a base whose digest is not known: what is behind its tag is newer than the one
// that was built on if it was made, or pushed, after that was built. What a host says of its tags suffices; else
// the manifest is read, once for each digest.
func (cl *Client) compareDates(
	ctx context.Context, repo repository, q *Question, digest string,
) (*candidate.Digest, error) {
	img := q.Image()
	p := img.Platform()
	d := &candidate.Digest{Remote: digest}
	i, known := cachedImage(ctx, cl.opt.Cache, repo.Repository, digest, p)
	if !known {
		if t, described := cl.describe(ctx, repo, img.Tag.Value, digest, p); described && t.Image != "" {
			i = image{Digest: t.Image, Pushed: t.Pushed}
			cl.keepImage(ctx, repo.Repository, digest, p, i)
		}
	}
	if d.Created = i.Pushed; d.Created.IsZero() {
		m, err := cl.manifest(ctx, repo, digest, p)
		if err != nil {
			return nil, err
		}
		d.Created, d.Version = m.Created, candidate.Version(m.Version)
	}
	now := cl.opt.Now()
	if !candidate.Believable(d.Created, now) || !candidate.Believable(img.Created, now) {
		q.Answer.Uncompared = "built here, and neither the digest of its base image nor when both were made is known"
		return nil, nil
	}
	d.Same = !d.Created.After(img.Created.Time)
	return d, nil
}
