package registryquery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
)

// droppedFresh is how long a tag that was dropped, or could not be read, is not asked about again:
// a publisher who mends it is not ignored for ever.
const droppedFresh = 30 * 24 * time.Hour

// tagKind is what is known of what is behind a tag. It is kept in the cache.
type tagKind struct {
	// Artifact is the type of what is no image; "" for images, and for what cannot be told.
	Artifact string `json:"artifact,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// Created is when the image was built, or pushed where nothing else is known without a pull; zero
	// for what says no date that can be believed.
	Created sdk.Time `json:"made,omitzero"`
	Version string   `json:"version,omitempty"` // of a rolling tag
	// Unread is whether reading it takes a pull.
	Unread bool `json:"unread,omitempty"`
	// Since is since when a check knows Digest there; zero for what was read before this was kept.
	Since time.Time `json:"since,omitzero"`
	At    time.Time `json:"at"`
}

func kindsKey(host, name string) string { return "tag kinds " + host + "/" + name }

// kinds returns what is known of the tags of a repository, without a request.
func (cl *Client) kinds(ctx context.Context, img sdk.Image) map[string]tagKind {
	known, read := cached[map[string]tagKind](ctx, cl.opt.Cache, kindsKey(img.Registry.Host, img.Name))
	if !read || known == nil {
		known = map[string]tagKind{}
	}
	return known
}

// keepKinds keeps what is known of the tags of the repository; where that are many, only of
// those that still matter.
func (r *kindReader) keepKinds(ctx context.Context) {
	img := *r.Image()
	if len(r.known) > maxTagged {
		rolling := tag.Rolling(img.Tag.Value, r.tags)
		maps.DeleteFunc(r.known, func(name string, _ tagKind) bool {
			isCandidate := slices.ContainsFunc(r.all, func(c tag.Newer) bool { return c.Tag == name })
			return !isCandidate && name != rolling && name != img.Tag.Value && r.dropped[name].Reason == ""
		})
	}
	r.Client.keep(ctx, kindsKey(img.Registry.Host, img.Name), r.known)
}

// kindReader finds out what the candidates of a container are.
type kindReader struct {
	*Client
	*Question
	all   []tag.Newer // the best first, with those that are dropped
	leaps []string    // those of them whose number is out of all proportion
	tags  []string    // of the repository
	known map[string]tagKind
	read  bool // known has changed
	left  int  // how many may be read
	began time.Time

	dropped map[string]tag.Dropped
	order   []string       // of those that are dropped
	doubt   [3]tag.Dropped // of each step, why what is not read is not offered either
}

// readNewest reads the newest candidate of each step, if it is among those that are wanted.
func (r *kindReader) readNewest(ctx context.Context, wanted func(tag.Newer) bool) {
	var read [3]bool
	for _, c := range r.all {
		level := candidate.Level(c.Diff)
		if _, isRead := r.known[c.Tag]; !read[level] && !isRead && wanted(c) {
			r.inspect(ctx, c.Tag, tagKind{})
		}
		read[level] = true
	}
}

// mayOffer reports whether the rules of the container may ever offer a candidate.
func (r *kindReader) mayOffer(c tag.Newer) bool {
	return policy.Passes(r.Rules.Threshold.Value, sdk.KindTag, c.Diff)
}

// drop notes that a candidate is not offered.
func (r *kindReader) drop(name string, why tag.Dropped) {
	if _, found := r.dropped[name]; !found {
		r.order = append(r.order, name)
	}
	r.dropped[name] = why
}

func (r *kindReader) isFresh(kind tagKind) bool { return r.opt.Now().Sub(kind.At) < droppedFresh }

// inspect reads a candidate, of which earlier is known.
func (r *kindReader) inspect(ctx context.Context, name string, earlier tagKind) (kind tagKind, told bool) {
	if r.left == 0 {
		return earlier, false
	}
	r.left--
	var known func(digest string) (reading, bool)
	if earlier.Digest != "" {
		known = func(digest string) (reading, bool) {
			return earlier.result(), digest == earlier.Digest && !earlier.Unread
		}
	}
	result, err := r.fetch(ctx, name, false, known)
	return r.note(name, result, err)
}

func (r *kindReader) release(tag string) candidate.Release {
	img := *r.Image()
	return candidate.Release{Host: img.Registry.Host, Name: img.Name, Tag: tag, Platform: img.Platform()}
}

// fetch is Client.inspect of a tag of the repository, with the credentials of the image.
func (r *kindReader) fetch(
	ctx context.Context, name string, pulls bool, known func(digest string) (reading, bool),
) (reading, error) {
	of := r.release(name)
	return r.Client.inspect(ctx, r.repository(of.Repository()), of, pulls, known)
}

// note notes what came of reading a tag; told is false when nothing did.
func (r *kindReader) note(name string, result reading, err error) (kind tagKind, told bool) {
	var why NoneToSpare
	switch {
	case errors.As(err, &why):
		r.left = 0
		return kind, false
	case err != nil && !errors.Is(err, errPull):
		return kind, false
	}
	kind = tagKind{
		Artifact: result.artifact, Digest: result.digest, Created: result.created, Version: result.version,
		Unread: err != nil, At: r.opt.Now(),
	}
	kind.Since = sdk.TimeOf(kind.At).Time
	if earlier, found := r.known[name]; found && earlier.Digest == kind.Digest {
		kind.Since = earlier.Since
	}
	if !kind.Created.IsZero() {
		r.Answer.Date(name, kind.Created)
	}
	r.known[name], r.read = kind, true
	return kind, true
}

func (k tagKind) result() reading {
	return reading{created: k.Created, artifact: k.Artifact, digest: k.Digest, version: k.Version}
}

// maxDatesPerCheck is how many dates a check asks for about one container.
const maxDatesPerCheck = 10
