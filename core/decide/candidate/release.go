package candidate

import (
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// oldestYear is that of the first date that is believed: builds that are to be
	// the same whenever they are made say 1970 or 1980.
	oldestYear = 1990
	// clockSkew is how far ahead a believable date may be.
	clockSkew = 24 * time.Hour
)

// Believable reports whether an image may have been made at a time, and the clock of its builder was right.
func Believable(created sdk.Time, now time.Time) bool {
	return created.Year() >= oldestYear && !created.After(now.Add(clockSkew))
}

// Released returns when the newer image of a container was made, as the image
// says; zero when there is none, or when that is not known.
func Released(c *sdk.Container, now time.Time) time.Time {
	if !c.UpdateAvailable || c.Result == nil || !Believable(c.Result.Created, now) {
		return time.Time{}
	}
	return c.Result.Created.Time
}

// Release is what has a date: the image for a platform behind a tag. With a digest, it is what
// has a version: the image with that digest, which is or was behind the tag.
type Release struct {
	Host, Name, Tag string
	Platform        sdk.Platform
	Digest          string
}

// Repository is where a registry has the release.
func (r Release) Repository() registry.Repository {
	return registry.Repository{Host: r.Host, Name: r.Name, ScopeHints: []string{r.Name}}
}

// Undated returns the release that a container is offered, and whether its date is to be found out.
func Undated(c *sdk.Container) (r Release, undated bool) {
	if !c.UpdateAvailable || c.UpdateKind.Kind != sdk.KindTag || c.Result == nil || !c.Result.Created.IsZero() {
		return Release{}, false
	}
	img := c.Watched()
	return Release{Host: img.Registry.Host, Name: img.Name, Tag: c.Result.Tag, Platform: img.Platform()}, true
}

// Unversioned returns the releases of a container whose version is not known: the image that
// runs, and the one that is offered behind the same tag.
func Unversioned(c *sdk.Container) (all []Release) {
	img := c.Image
	if SaysVersion(img) || img.Built || c.Base != nil || !img.Digest.Watch || img.Tag.Value == "" || IsDigestOnly(img) {
		return nil
	}
	add := func(digest string) {
		all = append(all, Release{img.Registry.Host, img.Name, img.Tag.Value, img.Platform(), digest})
	}
	if r := c.Result; r != nil && c.UpdateAvailable && c.UpdateKind.Kind == sdk.KindDigest && r.Version == "" &&
		r.Digest != "" {
		add(r.Digest)
	}
	if img.Version == "" && img.Digest.Repo != "" {
		add(img.Digest.Repo)
	}
	return all
}
