package labels

import (
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

// InfersBase reports whether a base is only what the image says of itself.
func (l *Labels) InfersBase() bool { return l.base.Value == "" || l.base.FromImage }

// BaseOf returns the image that is watched in the place of a container's: the one that the operator
// names, or the one that an image built here names. Of others an image may say nothing about that: it
// would hide its own updates. It is nil when there is none.
func (l *Labels) BaseOf(c *sdk.Container) *sdk.Image {
	rule, text := l.base, l.base.Value
	switch {
	case text != "" && rule.FromImage && !c.Image.Built:
		l.Notes = append(l.Notes, rule.Source()+": counts for an image that was built here only")
		return nil
	case text != "" && rule.IsFalse():
		return nil
	case text == "" && c.Image.Built && l.options.Labels.Image != label.ImageNone:
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
		if !l.InfersBase() {
			l.Wrong = append(l.Wrong, fmt.Sprintf("label %s: %v: write an image such as node:22-alpine",
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
	named, err := reference.Parse(labels[baseNameLabel])
	if err != nil || named.Name() != base.Name() || named.Tag != base.Tag ||
		!reference.IsDigest(labels[baseDigestLabel]) {
		return ""
	}
	return labels[baseDigestLabel]
}
