package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// maxScopeHints is how many repositories are named to a registry as token
// scope hints. How many of them share a token is for the registry to decide; this
// only keeps a request short.
const maxScopeHints = 120

// thresholdDigest is the threshold that excludes every other tag.
const thresholdDigest = "digest"

// response is what a registry said about one container.
type response struct {
	selection tag.Selection
	// tags is how many tags the repository has, when they were fetched.
	tags int
	// why has the verdict on each tag, for a target that is to be explained.
	why *tag.Explanation
	// digest is what is known of the digest behind the running tag; nil when it was not fetched.
	digest *digestResponse
	// uncompared says why nothing could be compared where only the registry tells; see uncompared.
	uncompared string
	// skipped are newer versions that are implausible.
	skipped []sdk.Skipped
	// created is when the images of candidates were made, by tag, where that was fetched.
	created map[string]sdk.Time
	// pins are which images are behind the tags of candidates, by tag, where that was looked at.
	pins map[string]pin
	err  error
}

// digestResponse compares the running image with what is behind its tag.
type digestResponse struct {
	remote string
	// inside are the digests of the manifest that remote has for the platform
	// and of its configuration, where they were fetched.
	inside []string
	// same is true when the running image is what the digest means for its platform.
	same    bool
	created sdk.Time
	// version is what the image behind remote says of its version; "" when it is not known.
	version string
}

// fetcher sends requests to registries, each of them once per run.
type fetcher struct {
	opt     Options
	limiter *limiter
	dater   atomic.Pointer[Dater] // nil when no dates are fetched
	absent  absent
	// described are the tags that registries described lately.
	described described
}

// Request makes a request to a registry, within what its host allows and as the requests
// of checks are counted.
func (c *Checker) Request(ctx context.Context, host string, request func(context.Context) error) error {
	return c.fetch.limiter.do(ctx, host, request)
}

// Pull is Request for one that reads a manifest.
func (c *Checker) Pull(ctx context.Context, host string, request func(context.Context) error) error {
	return c.fetch.limiter.pull(ctx, host, request)
}

func newFetcher(opt Options) *fetcher {
	return &fetcher{opt: opt, limiter: newLimiter(opt)}
}

// group is the containers of one repository of one registry.
type group struct {
	match   Match
	repo    registry.Repository
	targets []*target
}

// fetchAll fills in the response of every target. It returns when all have
// theirs, if only with an error.
func (f *fetcher) fetchAll(ctx context.Context, targets []*target) {
	f.fetchEach(ctx, targets, func([]*target) {})
}

// fetchEach is fetchAll for callers that want targets as their responses arrive,
// all of a repository at a time. It calls done from several goroutines.
func (f *fetcher) fetchEach(ctx context.Context, targets []*target, done func([]*target)) {
	var wait sync.WaitGroup
	hosts, rest := byHost(targets)
	if len(rest) > 0 {
		done(rest)
	}
	for name, groups := range hosts {
		if f.opt.Budget.Of(name).Limited() {
			oldestFirst(groups)
		}
		queue := make(chan *group, len(groups))
		for _, g := range groups {
			queue <- g
		}
		close(queue)
		for range min(max(f.opt.Limits.PerHost, 1), len(groups)) {
			wait.Go(func() {
				for g := range queue {
					f.group(ctx, g)
					done(g.targets)
				}
			})
		}
	}
	wait.Wait()
}

// byHost groups the targets that need requests to registries by repository, and
// the groups by host. The rest have their response.
func byHost(targets []*target) (hosts map[string][]*group, rest []*target) {
	found := map[string]*group{}
	hosts = map[string][]*group{}
	for _, s := range targets {
		if len(s.labels.fatal) > 0 {
			s.response.err = errors.New(strings.Join(s.labels.fatal, "; "))
		}
		if s.response.err != nil || !wantsTags(s) && !wantsDigest(s) {
			rest = append(rest, s)
			continue
		}
		img := *s.image()
		key := s.match.ID + " " + img.Registry.Host + "/" + img.Name
		g := found[key]
		if g == nil {
			g = &group{match: s.match, repo: registry.Repository{Host: img.Registry.Host, Name: img.Name}}
			found[key] = g
			hosts[img.Registry.Host] = append(hosts[img.Registry.Host], g)
		}
		g.targets = append(g.targets, s)
	}
	for _, groups := range hosts {
		slices.SortFunc(groups, func(a, b *group) int { return strings.Compare(a.repo.Name, b.repo.Name) })
		for chunk := range slices.Chunk(groups, maxScopeHints) {
			var names []string
			for _, g := range chunk {
				names = append(names, g.repo.Name)
			}
			for _, g := range chunk {
				g.repo.ScopeHints = names
			}
		}
	}
	return hosts, rest
}

func wantsTags(s *target) bool { return s.image().Tag.Semver && !s.image().Built }

// group fetches what is needed of one repository: its tags if a container runs a version, and
// the digest behind each tag that is watched by digest.
func (f *fetcher) group(ctx context.Context, g *group) {
	f.selections(ctx, g)
	type resolved struct {
		digest string
		err    error
	}
	digests := map[string]resolved{}
	for _, s := range g.targets {
		if !s.comparesDigest() {
			continue
		}
		name := s.image().Tag.Value
		r, fetched := digests[name]
		if !fetched {
			r.err = f.limiter.do(ctx, g.repo.Host, func(ctx context.Context) (err error) {
				r.digest, err = g.match.Registry.Resolve(ctx, g.repo, name)
				return err
			})
			digests[name] = r
		}
		switch {
		case r.err != nil:
			s.refused(r.err)
		case r.digest == "":
			s.response.uncompared = fmt.Sprintf("%s gives no digest of the tag %s", g.repo.Host, name)
		default:
			s.response.digest, s.response.err = f.compare(ctx, g, s, r.digest)
		}
	}
	f.versions(ctx, g)
}

// selections chooses among the tags of a repository, for every container that
// runs a version of it. The tags are not kept: there may be very many.
func (f *fetcher) selections(ctx context.Context, g *group) {
	if !slices.ContainsFunc(g.targets, wantsTags) {
		return
	}
	tags, err := f.tags(ctx, g)
	for _, s := range g.targets {
		switch {
		case !wantsTags(s):
		case err != nil:
			s.refused(err)
		default:
			s.response.tags = len(tags)
			s.choose(ctx, tags)
			s.float(tags)
			f.readCandidates(ctx, s, tags)
		}
	}
}

func (s *target) choose(ctx context.Context, tags []string) {
	selector, err := s.selector(), error(nil)
	if s.explained {
		var why tag.Explanation
		why, err = selector.Explain(ctx, s.image().Tag.Value, tags, s.known.Tags()...)
		s.response.why, s.response.selection = &why, why.Selection
	} else {
		s.response.selection, err = selector.Select(ctx, s.image().Tag.Value, tags, s.known.Tags()...)
	}
	if err != nil {
		s.response.err = s.labels.blame(err)
	}
}

// float finds out whether the running version is one that stands for more
// specific ones: then the image behind it changes, as behind any other tag.
func (s *target) float(tags []string) {
	img := s.image()
	img.Tag.Floating = tag.Floats(img.Tag.Value, tags)
	img.Digest.Watch = s.labels.watchesDigest(*img)
}

// tags returns the tags of a repository, which the registry may confirm as unchanged.
func (f *fetcher) tags(ctx context.Context, g *group) ([]string, error) {
	key := "tag list " + g.match.ID + " " + g.repo.Host + "/" + g.repo.Name
	validator, body, cached := f.opt.Cache.Get(ctx, key)
	if !cached {
		validator = ""
	}
	var list registry.TagList
	err := f.limiter.do(ctx, g.repo.Host, func(ctx context.Context) (err error) {
		list, err = g.match.Registry.Tags(ctx, g.repo, validator)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case list.NotModified && validator != "":
		return strings.Fields(string(body)), nil
	case list.NotModified:
		return nil,
			fmt.Errorf("%s answered that the tags of %s are unchanged, which it was not asked", g.match.ID, g.repo.Name)
	}
	if list.Validator != "" {
		f.opt.Cache.Put(ctx, key, list.Validator, []byte(strings.Join(list.Tags, "\n")))
	}
	return list.Tags, nil
}

// compare decides whether the running image is what digest means for its
// platform. A new index with the same image inside is no update. What is behind
// the digest matters for that alone: a manifest that cannot be read is another
// image if its digest is another.
func (f *fetcher) compare(ctx context.Context, g *group, s *target, digest string) (*digestResponse, error) {
	img := *s.image()
	own := ownDigests(img)
	if slices.Contains(own, digest) || img.Digest.Repo == digest || img.ID == digest {
		return &digestResponse{remote: digest, same: true}, nil
	}
	if s.container.Base != nil && withoutDigest(img) {
		return f.compareDates(ctx, g, s, digest)
	}
	if _, read := cachedManifest(ctx, f.opt.Cache, g.repo, digest, img.Platform()); !read {
		if d := f.compareDescribed(ctx, g, s, digest); d != nil {
			return d, nil
		}
	}
	m, err := f.manifest(ctx, g, digest, img.Platform())
	if err != nil {
		return nil, err
	}
	if withoutDigest(img) && m.Config == "" && m.Digest != img.ID {
		s.response.uncompared = "the engine has only the id of the image, " +
			"which the manifest behind the tag does not name"
		return nil, nil
	}
	same := slices.Contains(own, m.Digest) || img.ID != "" && (img.ID == m.Config || img.ID == m.Digest)
	if !same && (slices.Contains(own, img.ID) || img.ID != "" && img.ID == img.Digest.Repo) {
		same, err = f.sameInside(ctx, g, img, m)
	}
	if !same && err == nil && g.match.Describer != nil {
		f.keepOther(ctx, g, s, digest, image{Digest: m.Digest, Pushed: m.Created}) // not before
	}
	return &digestResponse{
		remote: digest, inside: []string{m.Digest, m.Config}, same: same, created: m.Created, version: versionOf(m.Version),
	}, err
}

// sameInside is for engines whose image id is the digest of the index
// (containerd's image store): only the registry knows what was inside. That it
// has deleted the old index by now is no failure.
func (f *fetcher) sameInside(ctx context.Context, g *group, img sdk.Image, remote registry.Manifest) (bool, error) {
	local, err := f.manifest(ctx, g, img.ID, img.Platform())
	if errors.Is(err, sdk.ErrNotFound) {
		return false, nil
	}
	return err == nil && local.Digest == remote.Digest, err
}

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
func (f *fetcher) manifest(ctx context.Context, g *group, digest string, p sdk.Platform) (registry.Manifest, error) {
	m, cached := cachedManifest(ctx, f.opt.Cache, g.repo, digest, p)
	if cached {
		return m, nil
	}
	key := manifestKey(g.repo, digest, p)
	if err := f.absent.get(key, f.opt.Now()); err != nil {
		return m, err
	}
	err := f.limiter.pull(ctx, g.repo.Host, func(ctx context.Context) (err error) {
		m, err = g.match.Registry.Manifest(ctx, g.repo, digest, p)
		return err
	})
	if err != nil {
		if errors.Is(err, sdk.ErrNotFound) {
			f.absent.put(key, err, f.opt.Now())
		}
		return m, err
	}
	if body, err := json.Marshal(m); err == nil {
		f.opt.Cache.Put(ctx, key, "", body)
	}
	return m, nil
}
