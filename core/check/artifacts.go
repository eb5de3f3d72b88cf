package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// artifactFresh is how long a tag that is no image is taken for none without asking again: a
// publisher who mends that is not ignored for ever.
const artifactFresh = 30 * 24 * time.Hour

// tagKind is what is known of a tag: whether it is an image. It is kept in the cache.
type tagKind struct {
	// Artifact is the type of what is no image; "" for images, and for what cannot be told.
	Artifact string    `json:"artifact,omitempty"`
	At       time.Time `json:"at"`
}

func kindsKey(host, name string) string { return "kinds " + host + "/" + name }

// kinds returns what is known of the tags of a repository, without a request.
func (f *fetcher) kinds(ctx context.Context, img sdk.Image) map[string]tagKind {
	known := map[string]tagKind{}
	if _, body, cached := f.opt.Cache.Get(ctx, kindsKey(img.Registry.Host, img.Name)); cached {
		_ = json.Unmarshal(body, &known) // what cannot be read is found out again
	}
	if len(known) > maxTagged {
		clear(known)
	}
	return known
}

func (f *fetcher) keepKinds(ctx context.Context, img sdk.Image, known map[string]tagKind) {
	if body, err := json.Marshal(known); err == nil {
		f.opt.Cache.Put(ctx, kindsKey(img.Registry.Host, img.Name), "", body)
	}
}

// leaveOutArtifacts leaves what is no image out of the candidates of a container: repositories
// have Helm charts beside the images, whose versions are others. Names do not tell them. So the
// newest candidate of each step is read once, for its date as well, unless that counts as a pull.
// A step goes on to the next candidate until one is an image. What cannot be read counts as one,
// but not behind something else.
func (f *fetcher) leaveOutArtifacts(ctx context.Context, s *target) {
	if s.response.err != nil || !s.response.selection.Newer {
		return
	}
	img := *s.image()
	known := f.kinds(ctx, img)
	reader := kindReader{fetcher: f, target: s, known: known}
	if f.opt.ReadCandidates && f.dater.Load() != nil {
		reader.left = maxDatesPerCheck
	}
	var settled, doubtful [3]bool
	artifacts := map[string]string{}
	for _, c := range s.response.selection.Candidates {
		level := levelOf(c.Diff)
		if settled[level] {
			continue
		}
		switch kind, told := reader.kind(ctx, c.Tag, c.Diff); {
		case kind.Artifact != "":
			artifacts[c.Tag], doubtful[level] = artifactText(kind.Artifact), true
		case told || !doubtful[level]:
			settled[level] = true
		default:
			artifacts[c.Tag] = "it is not known yet whether it is an image: newer ones are none"
		}
	}
	if reader.read {
		f.keepKinds(ctx, img, known)
	}
	if len(artifacts) == 0 {
		return
	}
	s.response.selection = s.response.selection.Without(img.Tag.Value, artifacts)
	if why := s.response.why; why != nil {
		*why = why.Without(img.Tag.Value, artifacts)
	}
}

func artifactText(artifact string) string {
	if artifact == "application/vnd.cncf.helm.config.v1+json" {
		return "it is no image but a Helm chart"
	}
	return fmt.Sprintf("it is no image but of the type %.100q", artifact)
}

// kindReader finds out what the candidates of a container are.
type kindReader struct {
	*fetcher
	*target
	known map[string]tagKind
	read  bool // known has changed
	left  int  // how many may be read
}

// kind returns what a candidate is; told is false when that could not be found out.
func (r *kindReader) kind(ctx context.Context, tag, diff string) (kind tagKind, told bool) {
	now := r.opt.Now()
	kind, told = r.known[tag]
	fresh := told && (kind.Artifact == "" || now.Sub(kind.At) < artifactFresh)
	if fresh || r.left == 0 || !policy.Passes(r.rules.Threshold.Value, sdk.KindTag, diff) {
		return kind, told
	}
	r.left--
	img := *r.image()
	of := release{host: img.Registry.Host, name: img.Name, tag: tag, platform: img.Platform()}
	result, err := r.dater.Load().inspect(ctx, of, false)
	var why refusal
	switch {
	case errors.As(err, &why):
		r.left = 0
		return kind, told
	case err != nil && !errors.Is(err, errPull):
		return kind, told
	}
	if !result.made.IsZero() {
		r.response.date(tag, result.made)
	}
	kind = tagKind{Artifact: result.artifact, At: now}
	r.known[tag], r.read = kind, true
	return kind, true
}
