package check

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// The labels by which builders say what an image is built on (OCI image specification,
// annotations.md). Images inherit them, so that they may name the base of the base.
const (
	baseNameLabel   = "org.opencontainers.image.base.name"
	baseDigestLabel = "org.opencontainers.image.base.digest"
)

// scratch is what images without a base are built on; no registry has it.
const scratch = "scratch"

// guessesBase reports whether a base is only what the image says of itself.
func (p *containerLabels) guessesBase() bool { return p.base.Value == "" || p.base.FromImage }

// baseOf returns the image that is watched in the place of a container's: the one that the operator
// names, or the one that an image built here names. Of others an image may say nothing about that: it
// would hide its own updates. It is nil when there is none.
func (p *containerLabels) baseOf(c *sdk.Container) *sdk.Image {
	rule, text := p.base, p.base.Value
	switch {
	case text != "" && rule.FromImage && !c.Image.Built:
		p.notes = append(p.notes, rule.Source()+": counts for an image that was built here only")
		return nil
	case text != "" && rule.IsFalse():
		return nil
	case text == "" && c.Image.Built && p.options.Image != label.ImageNone:
		text = c.Labels[baseNameLabel]
	}
	if text == "" || text == scratch {
		return nil
	}
	ref, err := reference.Parse(text)
	if err == nil && ref.Tag == "" {
		err = fmt.Errorf("%.200q names no tag", text)
	}
	if err != nil {
		if !p.guessesBase() {
			p.wrong = append(p.wrong, fmt.Sprintf("label %s: %v: write an image such as node:22-alpine",
				rule.Label, err))
		}
		return nil
	}
	base := sdk.Image{
		ID: c.Image.ID, Registry: sdk.Registry{Host: ref.Domain}, Name: ref.Path, Tag: sdk.Tag{Value: ref.Tag},
		OS: c.Image.OS, Architecture: c.Image.Architecture, Variant: c.Image.Variant, Created: c.Image.Created,
	}
	if digest := baseDigest(c.Labels, ref); digest != "" {
		base.ID, base.Digest.Repo = digest, digest
	}
	return &base
}

// baseDigest returns the digest of a base, as its reference says it or the label about the same one; "" for none.
func baseDigest(labels map[string]string, base reference.Reference) string {
	if base.Digest != "" {
		return base.Digest
	}
	said, err := reference.Parse(labels[baseNameLabel])
	if err != nil || said.Name() != base.Name() || said.Tag != base.Tag ||
		!reference.IsDigest(labels[baseDigestLabel]) {
		return ""
	}
	return labels[baseDigestLabel]
}

// compareDates compares a base whose digest is not known: what is behind its tag is newer than the one
// that was built on if it was made, or pushed, after that was built. What a host says of its tags suffices; else
// the manifest is read, once for each digest.
func (f *fetcher) compareDates(ctx context.Context, g *group, s *target, digest string) (*digestResponse, error) {
	img := s.image()
	p := img.Platform()
	d := &digestResponse{remote: digest}
	i, known := f.knownImage(ctx, g.repo, digest, p)
	if !known {
		if t, described := f.describe(ctx, g, img.Tag.Value, digest, p); described && t.Image != "" {
			i = image{Digest: t.Image, Pushed: t.Pushed}
			f.keepImage(ctx, g.repo, digest, p, i)
		}
	}
	if d.created = i.Pushed; d.created.IsZero() {
		m, err := f.manifest(ctx, g, digest, p)
		if err != nil {
			return nil, err
		}
		d.created, d.version = m.Created, versionOf(m.Version)
	}
	now := f.opt.Now()
	if !believable(d.created, now) || !believable(img.Created, now) {
		s.response.uncompared = "built here, and neither the digest of its base image nor when both were made is known"
		return nil, nil
	}
	d.same = !d.created.After(img.Created.Time)
	return d, nil
}

// detached returns a container that shares no base with another one.
func detached(c sdk.Container) sdk.Container {
	if c.Base != nil {
		base := *c.Base
		c.Base = &base
	}
	return c
}
