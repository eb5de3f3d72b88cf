package artifact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/internal/reference"
)

// maxTags bounds how many tags of a repository are looked at.
const maxTags = 20_000

// maxRefused bounds how many tags are passed over for the next best.
const maxRefused = 10

// Newer is what is newer than an artifact that is installed.
type Newer struct {
	// Ref is the newer reference: with another tag, or the same where the tag was moved; "" for none.
	Ref string `json:"ref"`
	// Digest is that of Ref.
	Digest string `json:"digest"`
	// Refused says of newer tags why they are not offered; "" when none was passed over.
	Refused string `json:"refused,omitempty"`
}

// Have is an artifact that is installed.
type Have struct {
	Source Source
	Digest string
	// Key is the publisher's; zero for an artifact that is not signed.
	Key Key
	// Accept says why what an artifact says of itself is no update of this one; nil when it is.
	Accept func(Fetched) error
}

// LookForNewer looks for a newer version of an artifact: a newer tag of the same form, or
// another artifact under the same tag. What is not for this platform, is not signed as
// it has to be, or not accepted, is passed over: only the content of the executable
// itself is left to Fetch. What was not installed from a registry by a tag has none.
func (f Fetcher) LookForNewer(ctx context.Context, have Have) (Newer, error) {
	s := have.Source
	if s.Image == nil || s.Image.Tag == "" || s.Image.Digest != "" {
		return Newer{}, nil
	}
	ref := *s.Image
	repo, err := repository(ctx, f.Logins, f.UserAgent, ref)
	if err != nil {
		return Newer{}, fmt.Errorf("%s: %w", s, err)
	}
	var tags []string
	err = repo.Tags(ctx, "", func(page []string) error {
		tags = append(tags, page...)
		if len(tags) > maxTags {
			return fmt.Errorf("the repository has more than %d tags", maxTags)
		}
		return nil
	})
	if err != nil {
		return Newer{}, fmt.Errorf("%s: list the tags: %w", s, explain(err, ref))
	}
	var refused []string
	for range maxRefused {
		if ref.Tag, err = newest(ctx, *s.Image, tags); err != nil {
			return Newer{}, fmt.Errorf("%s: %w", s, err)
		}
		root, err := resolve(ctx, repo, ref)
		if err != nil {
			return Newer{}, fmt.Errorf("%s: %w", ref, err)
		}
		if ref.Tag == s.Image.Tag && root.Digest.String() == have.Digest {
			break
		}
		err = f.offers(ctx, repo, root, ref.Tag, have)
		if err == nil {
			return Newer{Ref: ref.String(), Digest: root.Digest.String(), Refused: strings.Join(refused, "; ")}, nil
		}
		if ctx.Err() != nil {
			return Newer{}, fmt.Errorf("%s: %w", ref, err)
		}
		refused = append(refused, fmt.Sprintf("%s: %v", ref, err))
		if ref.Tag == s.Image.Tag {
			break
		}
		tags = slices.DeleteFunc(tags, func(t string) bool { return t == ref.Tag })
	}
	return Newer{Refused: strings.Join(refused, "; ")}, nil
}

// offers says why an artifact is no update of the one that is installed.
func (f Fetcher) offers(
	ctx context.Context, repo *remote.Repository, root ocispec.Descriptor, tag string, have Have,
) error {
	found, err := f.withDefaults().inspect(ctx, repo, root, Want{})
	if err == nil {
		err = found.check(ctx, f, have.Key, nil)
	}
	if err == nil {
		err = found.checkTag(tag)
	}
	if err == nil {
		err = have.Accept(found.Fetched)
	}
	return err
}

// newest returns the newest tag of the form of the current one, as of images.
func newest(ctx context.Context, ref reference.Reference, tags []string) (string, error) {
	selector, err := tag.Compile(tag.Rules{})
	if err != nil {
		return ref.Tag, err
	}
	if !selector.IsVersion(ref.Tag) {
		return ref.Tag, nil
	}
	s, err := selector.Select(ctx, ref.Tag, tags)
	if err != nil || !s.Newer {
		return ref.Tag, err
	}
	return s.Tag, nil
}
