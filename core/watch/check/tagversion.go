package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// tagsPerVersion is how many tags are resolved at a time to find the one with a digest.
	tagsPerVersion = 8
	// tagFresh is how long a tag that was resolved is not resolved again: versions are hardly ever rebuilt.
	tagFresh = 24 * time.Hour
	// versionPause is after what time a search that ended at tagsPerVersion may go on.
	versionPause = 10 * time.Minute
	// maxTagged is of how many tags of a repository it is kept what they are.
	maxTagged = 500
)

// tagged is what is known of the versions that the tags of a repository name. It is kept
// in the cache: what a digest once was, it stays.
type tagged struct {
	// Versions are tags by digest, the most precise one that is known.
	Versions map[string]string `json:"versions"`
	// Resolved is when tags were resolved last.
	Resolved map[string]time.Time `json:"resolved,omitempty"`
}

func taggedKey(host, name string) string { return "versions " + host + "/" + name }

// tagged returns what is known of the tags of a repository, without a request.
func (f *fetcher) tagged(ctx context.Context, host, name string) tagged {
	var known tagged
	if _, body, cached := f.opt.Cache.Get(ctx, taggedKey(host, name)); cached {
		_ = json.Unmarshal(body, &known) // what cannot be read is found out again
	}
	if known.Versions == nil || len(known.Versions) > maxTagged {
		known.Versions = map[string]string{}
	}
	if known.Resolved == nil || len(known.Resolved) > maxTagged {
		known.Resolved = map[string]time.Time{}
	}
	return known
}

func (f *fetcher) keepTagged(ctx context.Context, host, name string, known tagged) {
	if body, err := json.Marshal(known); err == nil {
		f.opt.Cache.Put(ctx, taggedKey(host, name), "", body)
	}
}

// versions fills in the versions that labels do not say, of images that have the digest of a tag
// that names a version. It makes no request: the tags are those that containers
// of the repository run, and those that a Dater has found.
func (f *fetcher) versions(ctx context.Context, g *group) {
	var known *tagged
	version := func(digest string) string {
		if digest == "" {
			return ""
		}
		if known == nil {
			t := f.tagged(ctx, g.repo.Host, g.repo.Name)
			for _, s := range g.targets {
				if img := *s.image(); isExact(img) && img.Digest.Repo != "" && t.Versions[img.Digest.Repo] == "" {
					t.Versions[img.Digest.Repo] = img.Tag.Value
				}
			}
			known = &t
		}
		return versionOf(known.Versions[digest])
	}
	for _, s := range g.targets {
		img := s.image()
		if isExact(*img) || !wantsDigest(s) {
			continue
		}
		if img.Version == "" {
			img.Version = version(img.Digest.Repo)
		}
		if d := s.response.digest; d != nil && d.version == "" && !d.same {
			d.version = version(d.remote)
		}
	}
}

// isExact reports whether the tag of an image says its version.
func isExact(img sdk.Image) bool { return img.Tag.Semver && !img.Tag.Floating }

// unversioned returns the digests of the images of a container whose version is not known: of
// the one that runs, and of the one that is offered behind the same tag.
func unversioned(c *sdk.Container) (digests []string) {
	img := c.Image
	if isExact(img) || img.Built || c.Base != nil || !img.Digest.Watch || img.Tag.Value == "" || untagged(img) {
		return nil
	}
	if r := c.Result; r != nil && c.UpdateAvailable && c.UpdateKind.Kind == sdk.KindDigest && r.Version == "" &&
		r.Digest != "" {
		digests = append(digests, r.Digest)
	}
	if img.Version == "" && img.Digest.Repo != "" {
		digests = append(digests, img.Digest.Repo)
	}
	return digests
}

// WantVersions is for the page of a container: where neither a label nor what is known of
// other tags says which version its tag is, that is found out while Run runs, and stored.
// It takes some requests, none of which is a pull where a tag says it. WantVersions returns at once.
func (d *Dater) WantVersions(c *sdk.Container) {
	for _, digest := range unversioned(c) {
		d.want(release{c.Image.Registry.Host, c.Image.Name, c.Image.Tag.Value, c.Image.Platform(), digest})
	}
}

// version finds out which version a digest is, and stores it. The error is a refusal.
func (d *Dater) version(ctx context.Context, h *dates, r release) error {
	log := d.log.With("image", r.host+"/"+r.name, "tag", r.tag, "digest", r.digest)
	version, again, err := d.findVersion(ctx, h, r)
	if refused, is := err.(refusal); is {
		log.Debug("the version of an image is not asked for now", "reason", refused)
		return refused
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		again = d.now().Add(datePause)
		log.Debug("the version of an image could not be had", "error", err)
	case version == "":
		log.Debug("no tag with the digest of an image was found")
	default:
		log.Debug("found out the version of an image", "version", version)
		if err := d.checker.versioned(ctx, r, version); err != nil && ctx.Err() == nil {
			log.Error("store the version of an image", "error", err)
		}
	}
	d.remember(r, dateResult{again: again})
	return nil
}

// findVersion resolves tags that may be the version behind another one until one has the
// digest. again is when it can be tried again.
func (d *Dater) findVersion(ctx context.Context, h *dates, r release) (version string, again time.Time, err error) {
	f, now := d.checker.fetch, d.now()
	known := f.tagged(ctx, r.host, r.name)
	if v := known.Versions[r.digest]; v != "" {
		return versionOf(v), now.Add(tagFresh), nil
	}
	match, served := d.checker.opt.Registries.For(r.host)
	if !served {
		return "", again, refusal("no registry serves it")
	}
	g := &group{match: match, repo: registry.Repository{Host: r.host, Name: r.name, ScopeHints: []string{r.name}}}
	if refused := d.permit(ctx, h, match, r.host); refused != "" {
		return "", again, refused
	}
	tags, err := f.tags(ctx, g)
	if err != nil {
		return "", again, err
	}
	resolved := 0
	for _, name := range tag.Behind(r.tag, tags) {
		if now.Sub(known.Resolved[name]) < tagFresh || versionOf(name) == "" {
			continue
		}
		if resolved++; resolved > tagsPerVersion {
			again = now.Add(versionPause)
			break
		}
		if refused := d.permit(ctx, h, match, r.host); refused != "" {
			err = refused
			break
		}
		var digest string
		err = f.limiter.do(ctx, r.host, func(ctx context.Context) (err error) {
			digest, err = match.Registry.Resolve(ctx, g.repo, name)
			return err
		})
		if err != nil {
			err = fmt.Errorf("resolve %s: %w", name, err)
			break
		}
		known.Resolved[name] = now
		if known.Versions[digest] == "" {
			known.Versions[digest] = name
		}
		if digest == r.digest {
			version = name
			break
		}
	}
	f.keepTagged(ctx, r.host, r.name, known)
	if again.IsZero() {
		again = now.Add(tagFresh)
		if version == "" && err == nil {
			version, err = d.labelled(ctx, g, r)
		}
	}
	return version, again, err
}

// labelled returns the version that the label of an offered image says, where a check has
// found out without its manifest that it is another one; "" where a check has read it.
func (d *Dater) labelled(ctx context.Context, g *group, r release) (string, error) {
	f := d.checker.fetch
	if i, known := f.knownImage(ctx, g.repo, r.digest, r.platform); !known || len(i.Others) == 0 {
		return "", nil
	}
	if _, refused := d.spare(ctx, g.match, r.host); refused != "" {
		return "", refused
	}
	m, err := f.manifest(ctx, g, r.digest, r.platform)
	return versionOf(m.Version), err
}

// versioned stores the version of an image with every container that runs it or is offered
// it behind the tag that it runs, and decides again about updates whose step is known by that.
func (c *Checker) versioned(ctx context.Context, r release, version string) error {
	steps, err := c.storeVersion(ctx, r, version)
	if err != nil || !steps {
		return err
	}
	return c.Redecide(ctx)
}

// storeVersion is versioned but for the decisions. steps is whether an update has a step by now.
func (c *Checker) storeVersion(ctx context.Context, r release, version string) (steps bool, err error) {
	c.commitLock.Lock()
	defer c.commitLock.Unlock()
	stored, err := c.opt.Store.Containers(ctx)
	if err != nil {
		return false, err
	}
	known, err := c.known(ctx)
	if err != nil {
		return false, err
	}
	var change event.Change
	for i := range stored {
		have := &stored[i]
		if have.Image.Registry.Host != r.host || have.Image.Name != r.name {
			continue
		}
		changed := false
		for _, digest := range unversioned(have) {
			if digest != r.digest {
				continue
			}
			changed = true
			if have.Image.Digest.Repo == digest {
				have.Image.Version = version
			} else {
				have.Result.Version = version
			}
		}
		if !changed {
			continue
		}
		e := event.Event{
			At: c.opt.Now(), Type: event.ContainerChanged, Subject: event.Subject(*have),
			Payload: event.Payload{Container: have, Aspect: event.Released},
		}
		if tally.Rebuilt(have) {
			have.UpdateKind.SemverDiff = rebuiltDiff(have.Image.Version, have.Result.Version)
			if err := c.remember(&change, e.Subject, measured(known[e.Subject], have)); err != nil {
				return false, err
			}
		}
		if have.UpdateKind.SemverDiff != "" {
			steps, e.Aspect = true, ""
		}
		change.Put = append(change.Put, *have)
		change.Events = append(change.Events, e)
	}
	if len(change.Put) == 0 {
		return false, nil
	}
	return steps, c.commit(ctx, change)
}

// measured returns what was found of a container with the version and the step of its new digest.
func measured(found policy.Found, c *sdk.Container) policy.Found {
	found.Candidates = slices.Clone(found.Candidates)
	for i := range found.Candidates {
		if of := &found.Candidates[i]; of.Kind == sdk.KindDigest && of.Digest == c.Result.Digest {
			of.Version, of.Diff = c.Result.Version, c.UpdateKind.SemverDiff
		}
	}
	return found
}
