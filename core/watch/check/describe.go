package check

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// describedFresh is how long a list of described tags serves all that is wanted of a repository.
	describedFresh = time.Minute
	// maxDescribed bounds the lists that are kept for that long.
	maxDescribed = 32
	// maxOthers bounds the images of which it is kept that they are not another one.
	maxOthers = 20
)

// described keeps what registries said of the tags of repositories, see registry.TagDescriber.
type described struct {
	mu    sync.Mutex
	lists map[string]describedList
}

type describedList struct {
	tags []registry.DescribedTag // none when the registry could not tell
	at   time.Time
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

func (f *fetcher) knownImage(
	ctx context.Context, repo registry.Repository, digest string, p sdk.Platform,
) (i image, known bool) {
	_, body, cached := f.opt.Cache.Get(ctx, imageKey(repo, digest, p))
	return i, cached && json.Unmarshal(body, &i) == nil && i.Digest != ""
}

func (f *fetcher) keepImage(ctx context.Context, repo registry.Repository, digest string, p sdk.Platform, i image) {
	if body, err := json.Marshal(i); err == nil {
		f.opt.Cache.Put(ctx, imageKey(repo, digest, p), "", body)
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
	f := fetcher{opt: Options{Cache: cache}}
	i, found := f.knownImage(ctx, repo, digest, p)
	return i.Digest, found
}

// describe returns what is behind a tag for a platform, without a pull. It is not known where
// the registry cannot tell, or is behind the digest that a request for it has returned. A list
// that was fetched before may be behind for itself, as after two pushes within a minute.
func (f *fetcher) describe(
	ctx context.Context, g *group, name, digest string, p sdk.Platform,
) (t registry.DescribedTag, known bool) {
	if g.match.Describer == nil {
		return t, false
	}
	find := func(tags []registry.DescribedTag) bool {
		i := slices.IndexFunc(tags, func(d registry.DescribedTag) bool { return d.Name == name })
		if i < 0 {
			return false
		}
		t = tags[i]
		known = t.Digest == digest && (t.Image != "" || t.Artifact != "")
		return true
	}
	since := f.opt.Now()
	list := f.newest(ctx, g, p)
	if len(list.tags) > 0 && (!find(list.tags) || !known && list.at.Before(since)) {
		if found, err := f.describeTags(ctx, g, name, p); err == nil {
			find(found)
		}
	}
	return t, known
}

// describedVersion returns the version behind a tag with a digest, as far as another tag of the
// newest has the same; "" where none has.
func (f *fetcher) describedVersion(ctx context.Context, g *group, name, digest string, p sdk.Platform) string {
	var names []string
	for _, t := range f.newest(ctx, g, p).tags {
		if t.Digest == digest {
			names = append(names, t.Name)
		}
	}
	for _, version := range tag.Behind(name, names) {
		return version
	}
	return ""
}

// newest returns what the registry says of the newest tags of a repository; none when it cannot.
func (f *fetcher) newest(ctx context.Context, g *group, p sdk.Platform) describedList {
	key := imageKey(g.repo, g.match.ID, p)
	now := f.opt.Now()
	f.described.mu.Lock()
	list, fetched := f.described.lists[key]
	f.described.mu.Unlock()
	if !fetched || now.Sub(list.at) >= describedFresh {
		tags, err := f.describeTags(ctx, g, "", p)
		if err != nil {
			tags = nil
		}
		list = describedList{tags, now}
		f.described.mu.Lock()
		if f.described.lists == nil || len(f.described.lists) >= maxDescribed {
			f.described.lists = map[string]describedList{}
		}
		f.described.lists[key] = list
		f.described.mu.Unlock()
	}
	return list
}

// describeTags makes the request, whose failure says nothing about the registry itself.
func (f *fetcher) describeTags(
	ctx context.Context, g *group, name string, p sdk.Platform,
) (tags []registry.DescribedTag, err error) {
	limited := f.limiter.do(ctx, g.repo.Host, func(ctx context.Context) error {
		tags, err = g.match.Describer.DescribeTags(ctx, g.repo, name, p)
		return nil
	})
	if limited != nil {
		err = limited
	}
	return tags, err
}

// compareDescribed is compare without a pull; nil when that does not suffice: when it stays
// open whether the image behind digest is another one than runs, or when rules depend on its
// version and no tag says that.
func (f *fetcher) compareDescribed(ctx context.Context, g *group, s *target, digest string) *digestResponse {
	img := *s.image()
	p := img.Platform()
	i, known := f.knownImage(ctx, g.repo, digest, p)
	if !known {
		t, described := f.describe(ctx, g, img.Tag.Value, digest, p)
		if !described || t.Image == "" {
			return nil
		}
		i = image{Digest: t.Image, Pushed: t.Pushed}
		f.keepVersions(ctx, g, s, digest)
	}
	d := &digestResponse{remote: digest, inside: []string{i.Digest}, created: i.Pushed}
	own := idsOf(img)
	if d.same = slices.Contains(own, i.Digest); !d.same && !i.isOther(own) {
		running := f.runningImage(ctx, g, own, p)
		if running == "" && !i.Pushed.After(f.existed(ctx, g, s, own)) {
			return nil // it may be the one that runs, below another index
		}
		d.same = running == i.Digest
	}
	switch {
	case d.same:
		f.keepImage(ctx, g.repo, digest, p, i)
	case f.needsVersion(ctx, g, s, digest):
		return nil
	default:
		f.keepOther(ctx, g, s, digest, i)
	}
	return d
}

// idsOf returns all digests by which an engine knows an image.
func idsOf(img sdk.Image) []string {
	own := ownDigests(img)
	if img.ID != "" {
		own = append(own, img.ID)
	}
	return own
}

// isOther reports whether the image is known to be another one than one with such digests.
func (i image) isOther(own []string) bool {
	return slices.ContainsFunc(own, func(o string) bool { return slices.Contains(i.Others, o) })
}

// keepOther keeps that the image behind a digest is not the one that runs.
func (f *fetcher) keepOther(ctx context.Context, g *group, s *target, digest string, i image) {
	own := idsOf(*s.image())
	if i.Others = append(i.Others, own...); len(i.Others) > maxOthers {
		i.Others = own
	}
	slices.Sort(i.Others)
	i.Others = slices.Compact(i.Others)
	f.keepImage(ctx, g.repo, digest, s.image().Platform(), i)
}

// existed is when the running image is known to have existed: when its container was created, or
// when a check compared it with what was behind its tag; far in the future when neither is known.
// What was pushed later is another one.
func (f *fetcher) existed(ctx context.Context, g *group, s *target, own []string) time.Time {
	c := s.container
	if !c.Created.IsZero() && !c.Created.Before(c.Image.Created.Time) { // else the clock was wrong
		return c.Created.Time
	}
	if c.Result != nil && c.Check.State == sdk.CheckOK {
		i, _ := f.knownImage(ctx, g.repo, c.Result.Digest, c.Image.Platform())
		if slices.Contains(own, c.Result.Digest) || i.isOther(own) {
			return c.Check.At.Time
		}
	}
	return time.Unix(1<<40, 0)
}

// runningImage returns the digest of the running platform's own manifest; "" when it is not known.
func (f *fetcher) runningImage(ctx context.Context, g *group, own []string, p sdk.Platform) string {
	for _, digest := range own {
		if found, known := CachedImage(ctx, f.opt.Cache, g.repo, digest, p); known {
			return found
		}
	}
	if g.match.Describer == nil {
		return ""
	}
	// Another tag may still have the index that runs.
	for _, t := range f.newest(ctx, g, p).tags {
		if t.Image != "" && slices.Contains(own, t.Digest) {
			f.keepImage(ctx, g.repo, t.Digest, p, image{Digest: t.Image, Pushed: t.Pushed})
			return t.Image
		}
	}
	return ""
}

// keepVersions keeps which versions the new digest of a tag and the running one are, as far as
// other tags of the newest say it.
func (f *fetcher) keepVersions(ctx context.Context, g *group, s *target, digest string) {
	img := *s.image()
	list := f.newest(ctx, g, img.Platform()).tags
	if isExact(img) || len(list) == 0 {
		return
	}
	known, changed := f.tagged(ctx, g.repo.Host, g.repo.Name), false
	for _, of := range []string{digest, img.Digest.Repo} {
		var names []string
		for _, t := range list {
			if t.Digest == of {
				names = append(names, t.Name)
			}
		}
		for _, name := range tag.Behind(img.Tag.Value, names) {
			if known.Versions[of] == "" && versionOf(name) != "" {
				known.Versions[of], changed = name, true
			}
		}
	}
	if changed {
		f.keepTagged(ctx, g.repo.Host, g.repo.Name, known)
	}
}

// needsVersion reports whether the rules of a container depend on the step between two
// versions of which only the running one is known.
func (f *fetcher) needsVersion(ctx context.Context, g *group, s *target, digest string) bool {
	if !policy.Measures(s.rules.Threshold.Value) {
		return false
	}
	img := *s.image()
	known := f.tagged(ctx, g.repo.Host, g.repo.Name)
	return (img.Version != "" || known.Versions[img.Digest.Repo] != "") && known.Versions[digest] == "" && !isExact(img)
}
