package registryquery

import (
	"context"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

// tags returns the tags of a repository, which other checks may have fetched. Nobody may change them.
func (cl *Client) tags(ctx context.Context, repo repository) ([]string, error) {
	return cl.tagLists.do(ctx, repo.key(), repo.since, cl.opt.Now(), func() ([]string, error) {
		return cl.fetchTags(ctx, repo)
	})
}

// fetchTags requests the tags of a repository, which the registry may confirm as unchanged.
func (cl *Client) fetchTags(ctx context.Context, repo repository) ([]string, error) {
	key := "tag list " + repo.key()
	validator, body, cached := cl.opt.Cache.Get(ctx, key)
	if !cached {
		validator = ""
	}
	var list registry.TagList
	err := cl.Request(ctx, repo.Host, func(ctx context.Context) (err error) {
		list, err = repo.match.Registry.Tags(ctx, repo.Repository, validator)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case list.NotModified && validator != "":
		return strings.Fields(string(body)), nil
	case list.NotModified:
		return nil,
			fmt.Errorf("%s answered that the tags of %s are unchanged, which it was not asked", repo.match.ID, repo.Name)
	}
	if list.Validator != "" {
		cl.opt.Cache.Put(ctx, key, list.Validator, []byte(strings.Join(list.Tags, "\n")))
	}
	return list.Tags, nil
}

// resolve returns the digest behind a tag, for which other checks may have asked.
func (cl *Client) resolve(ctx context.Context, repo repository, tag string) (string, error) {
	return cl.digests.do(ctx, repo.key()+":"+tag, repo.since, cl.opt.Now(), func() (digest string, err error) {
		err = cl.Request(ctx, repo.Host, func(ctx context.Context) (err error) {
			digest, err = repo.match.Registry.Resolve(ctx, repo.Repository, tag)
			return err
		})
		return digest, err
	})
}

// key tells a repository from those of other hosts and of other registries, and from itself with other credentials.
func (r repository) key() string {
	return strings.TrimSuffix(r.match.ID+" "+r.Host+"/"+r.Name+" by "+r.source, " by ")
}
