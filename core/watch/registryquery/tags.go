package registryquery

import (
	"context"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

// tags returns the tags of a repository, which the registry may confirm as unchanged.
func (cl *Client) tags(ctx context.Context, repo repository) ([]string, error) {
	key := "tag list " + repo.match.ID + " " + repo.Host + "/" + repo.Name
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

// resolve returns the digest behind a tag.
func (cl *Client) resolve(ctx context.Context, repo repository, tag string) (digest string, err error) {
	err = cl.Request(ctx, repo.Host, func(ctx context.Context) (err error) {
		digest, err = repo.match.Registry.Resolve(ctx, repo.Repository, tag)
		return err
	})
	return digest, err
}
