package registryquery

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// describedFresh is how long a list of described tags serves all that is wanted of a repository.
const describedFresh = time.Minute

// describe returns what is behind a tag for a platform, without a pull. It is not known where
// the registry cannot tell, or is behind the digest that a request for it has returned. A list
// that was fetched before may be behind for itself, as after two pushes within a minute.
func (cl *Client) describe(
	ctx context.Context, repo repository, name, digest string, p sdk.Platform,
) (t registry.DescribedTag, known bool) {
	if repo.match.Describer == nil {
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
	since := cl.opt.Now()
	list := cl.newest(ctx, repo, p)
	if len(list.tags) > 0 && (!find(list.tags) || !known && list.fetched.Before(since)) {
		if found, err := cl.describeTags(ctx, repo, name, p); err == nil {
			find(found)
		}
	}
	return t, known
}

// describedVersion returns the version behind a tag with a digest, as far as another tag of the
// newest has the same; "" where none has.
func (cl *Client) describedVersion(ctx context.Context, repo repository, name, digest string, p sdk.Platform) string {
	for _, version := range tag.SpecificTags(name, namesOf(digest, cl.newest(ctx, repo, p).tags)) {
		return version
	}
	return ""
}

// namesOf returns the tags that have a digest.
func namesOf(digest string, tags []registry.DescribedTag) (names []string) {
	for _, t := range tags {
		if t.Digest == digest {
			names = append(names, t.Name)
		}
	}
	return names
}

// newest returns what the registry says of the newest tags of a repository; none when it cannot.
func (cl *Client) newest(ctx context.Context, repo repository, p sdk.Platform) describedList {
	key, now := imageKey(repo.Repository, repo.match.ID, p), cl.opt.Now()
	list, fetched := cl.described.get(key)
	if !fetched || now.Sub(list.fetched) >= describedFresh {
		tags, err := cl.describeTags(ctx, repo, "", p)
		if err != nil {
			tags = nil
		}
		list = describedList{tags, now}
		cl.described.put(key, list)
	}
	return list
}

// describeTags makes the request, whose failure says nothing about the registry itself.
func (cl *Client) describeTags(
	ctx context.Context, repo repository, name string, p sdk.Platform,
) (tags []registry.DescribedTag, err error) {
	limited := cl.Request(ctx, repo.Host, func(ctx context.Context) error {
		tags, err = repo.match.Describer.DescribeTags(ctx, repo.Repository, name, p)
		return nil
	})
	if limited != nil {
		err = limited
	}
	return tags, err
}
