package registryquery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
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
func (cl *Client) tagged(ctx context.Context, host, name string) tagged {
	known, _ := cached[tagged](ctx, cl.opt.Cache, taggedKey(host, name))
	if known.Versions == nil || len(known.Versions) > maxTagged {
		known.Versions = map[string]string{}
	}
	if known.Resolved == nil || len(known.Resolved) > maxTagged {
		known.Resolved = map[string]time.Time{}
	}
	return known
}

// nameVersions fills in the versions that labels do not say, of images that have the digest of a tag
// that names a version. It makes no request: the tags are those that containers
// of the repository run, and those that Version has found.
func (cl *Client) nameVersions(ctx context.Context, repo registry.Repository, questions []*Question) {
	var known *tagged
	version := func(digest string) string {
		if digest == "" {
			return ""
		}
		if known == nil {
			t := cl.tagged(ctx, repo.Host, repo.Name)
			for _, q := range questions {
				digest := q.Image().Digest.Repo
				if candidate.SaysVersion(*q.Image()) && digest != "" && t.Versions[digest] == "" {
					t.Versions[digest] = q.Image().Tag.Value
				}
			}
			known = &t
		}
		return candidate.Version(known.Versions[digest])
	}
	for _, q := range questions {
		img := q.Image()
		if candidate.SaysVersion(*img) || !q.wantsDigest() {
			continue
		}
		if img.Version == "" {
			img.Version = version(img.Digest.Repo)
		}
		if d := q.Answer.Digest; d != nil && d.Version == "" && !d.Same {
			d.Version = version(d.Remote)
		}
	}
}

// keepVersions keeps which versions the new digest of a tag and the running one are, as far as
// other tags of the newest say it.
func (cl *Client) keepVersions(ctx context.Context, repo repository, q *Question, digest string) {
	img := *q.Image()
	list := cl.newest(ctx, repo, img.Platform()).tags
	if candidate.SaysVersion(img) || len(list) == 0 {
		return
	}
	known, changed := cl.tagged(ctx, repo.Host, repo.Name), false
	for _, d := range []string{digest, img.Digest.Repo} {
		for _, name := range tag.SpecificTags(img.Tag.Value, namesOf(d, list)) {
			if known.Versions[d] == "" && candidate.Version(name) != "" {
				known.Versions[d], changed = name, true
			}
		}
	}
	if changed {
		cl.keep(ctx, taggedKey(repo.Host, repo.Name), known)
	}
}

// needsVersion reports whether the rules of a container depend on the step between two
// versions of which only the running one is known.
func (cl *Client) needsVersion(ctx context.Context, repo repository, q *Question, digest string) bool {
	if !policy.Measures(q.Rules.Threshold.Value) {
		return false
	}
	img := *q.Image()
	known := cl.tagged(ctx, repo.Host, repo.Name)
	return (img.Version != "" || known.Versions[img.Digest.Repo] != "") && known.Versions[digest] == "" &&
		!candidate.SaysVersion(img)
}

// Version returns which version a release is, as far as a tag with its digest or the image says it; "" else. What came
// of it is believed for a while, see MayRead. The error is a NoneToSpare when the host has no requests to spare.
func (cl *Client) Version(ctx context.Context, r candidate.Release) (string, error) {
	version, retry, err := cl.findVersion(ctx, r)
	var none NoneToSpare
	switch {
	case errors.As(err, &none):
		return "", none
	case err != nil:
		retry = cl.opt.Now().Add(datePause)
	}
	cl.releases.put(r, reading{retry: retry})
	return version, err
}

// findVersion resolves tags that may be the version behind another one until one has the
// digest. retry is when it can be tried again.
func (cl *Client) findVersion(ctx context.Context, r candidate.Release) (version string, retry time.Time, err error) {
	now := cl.opt.Now()
	known := cl.tagged(ctx, r.Host, r.Name)
	if v := known.Versions[r.Digest]; v != "" {
		return candidate.Version(v), now.Add(tagFresh), nil
	}
	repo, err := cl.repositoryOf(r)
	if err != nil {
		return "", retry, err
	}
	if err := cl.permit(ctx, repo); err != nil {
		return "", retry, err
	}
	tags, err := cl.tags(ctx, repo)
	if err != nil {
		return "", retry, err
	}
	resolved := 0
	for _, name := range tag.SpecificTags(r.Tag, tags) {
		if now.Sub(known.Resolved[name]) < tagFresh || candidate.Version(name) == "" {
			continue
		}
		if resolved++; resolved > tagsPerVersion {
			retry = now.Add(versionPause)
			break
		}
		if err = cl.permit(ctx, repo); err != nil {
			break
		}
		var digest string
		if digest, err = cl.resolve(ctx, repo, name); err != nil {
			err = fmt.Errorf("resolve %s: %w", name, err)
			break
		}
		known.Resolved[name] = now
		if known.Versions[digest] == "" {
			known.Versions[digest] = name
		}
		if digest == r.Digest {
			version = name
			break
		}
	}
	cl.keep(ctx, taggedKey(r.Host, r.Name), known)
	if retry.IsZero() {
		retry = now.Add(tagFresh)
		if version == "" && err == nil {
			version, err = cl.labelledVersion(ctx, repo, r)
		}
	}
	return version, retry, err
}

// labelledVersion returns the version that the label of an offered image says, where a check has
// found out without its manifest that it is another one; "" where a check has read it.
func (cl *Client) labelledVersion(ctx context.Context, repo repository, r candidate.Release) (string, error) {
	if i, known := cachedImage(ctx, cl.opt.Cache, repo.Repository, r.Digest, r.Platform); !known || len(i.Others) == 0 {
		return "", nil
	}
	if _, err := cl.spare(ctx, repo); err != nil {
		return "", err
	}
	m, err := cl.manifest(ctx, repo, r.Digest, r.Platform)
	return candidate.Version(m.Version), err
}
