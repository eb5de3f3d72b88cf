package registryquery

import (
	"context"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

// tags returns the tags of a repository, which the registry may confirm as unchanged.
func (cl *Client) tags(ctx context.Context, at repository) ([]string, error) {
	key := "tag list " + at.match.ID + " " + at.repo.Host + "/" + at.repo.Name
	validator, body, cached := cl.opt.Cache.Get(ctx, key)
	if !cached {
		validator = ""
	}
	var list registry.TagList
	err := cl.limiter.do(ctx, at.repo.Host, func(ctx context.Context) (err error) {
		list, err = at.match.Registry.Tags(ctx, at.repo, validator)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case list.NotModified && validator != "":
		return strings.Fields(string(body)), nil
	case list.NotModified:
		return nil,
			fmt.Errorf("%s answered that the tags of %s are unchanged, which it was not asked", at.match.ID, at.repo.Name)
	}
	if list.Validator != "" {
		cl.opt.Cache.Put(ctx, key, list.Validator, []byte(strings.Join(list.Tags, "\n")))
	}
	return list.Tags, nil
}

// resolve returns the digest behind a tag.
func (cl *Client) resolve(ctx context.Context, at repository, tag string) (digest string, err error) {
	err = cl.limiter.do(ctx, at.repo.Host, func(ctx context.Context) (err error) {
		digest, err = at.match.Registry.Resolve(ctx, at.repo, tag)
		return err
	})
	return digest, err
}
