package registryquery

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

const (
	// describedFresh is how long a list of described tags serves all that is wanted of a repository.
	describedFresh = time.Minute
	// maxDescribed bounds the lists that are kept for that long.
	maxDescribed = 32
)

// describe returns what is behind a tag for a platform, without a pull. It is not known where
// the registry cannot tell, or is behind the digest that a request for it has returned. A list
// that was fetched before may be behind for itself, as after two pushes within a minute.
func (cl *Client) describe(
	ctx context.Context, at repository, name, digest string, p sdk.Platform,
) (t registry.DescribedTag, known bool) {
	if at.match.Describer == nil {
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
	list := cl.newest(ctx, at, p)
	if len(list.tags) > 0 && (!find(list.tags) || !known && list.at.Before(since)) {
		if found, err := cl.describeTags(ctx, at, name, p); err == nil {
			find(found)
		}
	}
	return t, known
}

// describedVersion returns the version behind a tag with a digest, as far as another tag of the
// newest has the same; "" where none has.
func (cl *Client) describedVersion(ctx context.Context, at repository, name, digest string, p sdk.Platform) string {
	var names []string
	for _, t := range cl.newest(ctx, at, p).tags {
		if t.Digest == digest {
			names = append(names, t.Name)
		}
	}
	for _, version := range tag.SpecificTags(name, names) {
		return version
	}
	return ""
}

// newest returns what the registry says of the newest tags of a repository; none when it cannot.
func (cl *Client) newest(ctx context.Context, at repository, p sdk.Platform) describedList {
	key := imageKey(at.repo, at.match.ID, p)
	now := cl.opt.Now()
	cl.described.mu.Lock()
	list, fetched := cl.described.lists[key]
	cl.described.mu.Unlock()
	if !fetched || now.Sub(list.at) >= describedFresh {
		tags, err := cl.describeTags(ctx, at, "", p)
		if err != nil {
			tags = nil
		}
		list = describedList{tags, now}
		cl.described.mu.Lock()
		if cl.described.lists == nil || len(cl.described.lists) >= maxDescribed {
			cl.described.lists = map[string]describedList{}
		}
		cl.described.lists[key] = list
		cl.described.mu.Unlock()
	}
	return list
}

// describeTags makes the request, whose failure says nothing about the registry itself.
func (cl *Client) describeTags(
	ctx context.Context, at repository, name string, p sdk.Platform,
) (tags []registry.DescribedTag, err error) {
	limited := cl.limiter.do(ctx, at.repo.Host, func(ctx context.Context) error {
		tags, err = at.match.Describer.DescribeTags(ctx, at.repo, name, p)
		return nil
	})
	if limited != nil {
		err = limited
	}
	return tags, err
}
