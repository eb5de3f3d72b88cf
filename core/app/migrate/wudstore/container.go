package wudstore

import (
	"net/url"
	"slices"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// container is one of the file, whose fields have the names of ours.
type container struct {
	sdk.Container
	// Available is nil where the file leaves it to its reader.
	Available *bool `json:"updateAvailable"`
}

// complete makes it one of ours, and reports whether it has what a container needs.
func (c *container) complete() bool {
	if c.ID == "" || c.Name == "" || c.Watcher == "" || c.Image.Name == "" || c.Image.Tag.Value == "" {
		return false
	}
	c.Image.Registry.Host, c.Image.Name = place(c.Image)
	c.Check = sdk.CheckState{State: state(c.Container)}
	if len(c.Labels) > 0 {
		c.ImageLabels = []string{label.Unattributed}
	}
	diff := c.UpdateKind.SemverDiff
	c.UpdateKind = kindOf(c.Container)
	c.UpdateAvailable = c.UpdateKind.Kind != sdk.KindUnknown && (c.Available == nil || *c.Available)
	switch {
	case !c.UpdateAvailable:
		c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindUnknown}
	case c.UpdateKind.Kind == sdk.KindTag && slices.Contains(diffs, diff):
		c.UpdateKind.SemverDiff = diff
	}
	return true
}

var diffs = []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, sdk.DiffUnknown}

// place returns the host and the repository of an image, whose file has the
// address of the registry's API instead.
func place(img sdk.Image) (host, repository string) {
	u, err := url.Parse(img.Registry.URL)
	if err != nil || u.Host == "" {
		return "", img.Name
	}
	if ref, err := reference.Parse(reference.Join(u.Host, img.Name)); err == nil {
		return ref.Domain, ref.Path
	}
	return u.Host, img.Name
}

// state is how the last check ended. An error takes the result away there.
func state(c sdk.Container) string {
	switch {
	case c.Error != nil:
		return sdk.CheckFailed
	case c.Result != nil:
		return sdk.CheckOK
	}
	return sdk.CheckNever
}

// kindOf says how the result differs from what runs: by the tag, and else by
// the digest. That only the dates differ is no update of ours.
func kindOf(c sdk.Container) sdk.UpdateKind {
	switch r := c.Result; {
	case r == nil:
	case r.Tag != "" && r.Tag != c.Image.Tag.Value:
		return sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: c.Image.Tag.Value, RemoteValue: r.Tag}
	case r.Digest != "" && r.Digest != c.Image.Digest.Value:
		return sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: c.Image.Digest.Value, RemoteValue: r.Digest}
	}
	return sdk.UpdateKind{Kind: sdk.KindUnknown}
}
