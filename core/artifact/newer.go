package artifact

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/tag"
	"github.com/dogwatch/dogwatch/internal/reference"
)

// maxTags bounds how many tags of a repository are looked at.
const maxTags = 20_000

// Newer is what is newer than an artifact that is installed.
type Newer struct {
	// Ref is the newer reference: with another tag, or the same where the tag was moved; "" for none.
	Ref string `json:"ref"`
	// Digest is that of Ref.
	Digest string `json:"digest"`
}

// LookForNewer looks for a newer version of an artifact with a digest: a newer tag of
// the same form, or another artifact under the same tag. What was not installed from
// a registry by a tag has none.
func LookForNewer(ctx context.Context, logins Logins, s Source, digest string) (Newer, error) {
	if s.Image == nil || s.Image.Tag == "" || s.Image.Digest != "" {
		return Newer{}, nil
	}
	ref := *s.Image
	repo, err := repository(ctx, logins, ref)
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
	if best, err := newest(ctx, ref, tags); err != nil || best != ref.Tag {
		ref.Tag = best
		if err != nil {
			return Newer{}, fmt.Errorf("%s: %w", s, err)
		}
	}
	root, err := resolve(ctx, repo, ref)
	if err != nil {
		return Newer{}, fmt.Errorf("%s: %w", ref, err)
	}
	if ref.Tag == s.Image.Tag && root.Digest.String() == digest {
		return Newer{}, nil
	}
	return Newer{Ref: ref.String(), Digest: root.Digest.String()}, nil
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
