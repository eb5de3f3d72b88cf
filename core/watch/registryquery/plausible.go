package registryquery

import (
	"context"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// longBefore is how much older than what runs a version is that was abandoned. A line goes on
	// with fixes for weeks after its successor was published, and sometimes for months, but then
	// the successor gets some, too.
	longBefore = 180 * 24 * time.Hour
	// leapBefore is the same for a version whose number is out of all proportion; see
	// tag.Selection.Leaps.
	leapBefore = 90 * 24 * time.Hour
)

// implausible says why a candidate is not what its number says; nil when it is plausible: it was
// built long before what runs, or, if its number is out of all proportion, long before an earlier
// version that the rolling tag of the repository holds. What that tag holds is plausible, and so are
// the usual numbers before it: the base of a version that runs may be built again and again while
// the next one was built once. A candidate without a date is plausible.
func (r *kindReader) implausible(ctx context.Context, name string, kind tagKind) phrase.Phrase {
	if !r.opt.ReadCandidates || r.Labels.OffersImplausible() || kind.Created.IsZero() {
		return nil
	}
	limit, leaps := longBefore, slices.Contains(r.leaps, name)
	if leaps {
		limit = leapBefore
	}
	running := r.released()
	isOlder := candidate.Believable(running, r.opt.Now()) && running.Sub(kind.Created.Time) >= limit
	if !isOlder && !leaps {
		return nil
	}
	latest := tag.Rolling(r.Image().Tag.Value, r.tags)
	rolling := r.held(ctx, latest, kind.At)
	index := slices.IndexFunc(r.all, func(c tag.Newer) bool { return c.Tag == name })
	holds := r.holds(rolling)
	switch {
	case holds >= 0 && (holds == index || holds < index && !leaps):
		return nil
	case isOlder:
		return phrase.New("it was built %s before what runs", builtBefore(kind.Created, running))
	case holds > index && rolling.Created.Sub(kind.Created.Time) >= limit:
		return phrase.New("it was built %s before what %s holds", builtBefore(kind.Created, rolling.Created), latest)
	}
	return nil
}

// released returns when what runs was built; when its tag was, if an earlier build of that is known
// from when it was a candidate: one whose base is rebuilt every night was published long before.
func (r *kindReader) released() sdk.Time {
	built := r.Image().Created
	if first := r.known[r.Image().Tag.Value].Created; !first.IsZero() && first.Before(built.Time) {
		return first
	}
	return built
}

// held returns what a rolling tag held, not before since if that can be found out.
func (r *kindReader) held(ctx context.Context, name string, since time.Time) tagKind {
	have := r.known[name]
	if name == "" || r.left == 0 || !have.At.Before(since) {
		return have
	}
	r.left--
	result, err := r.fetch(ctx, name, false, func(digest string) (reading, bool) {
		if digest == have.Digest && !have.Unread {
			return have.result(), true
		}
		for _, c := range r.all {
			if kind := r.known[c.Tag]; kind.Digest == digest {
				return kind.result(), true
			}
		}
		img := *r.Image()
		return reading{digest: digest, created: img.Created}, slices.Contains(candidate.IDs(img), digest)
	})
	kind, told := r.note(name, result, err)
	if !told {
		return have
	}
	if r.holds(kind) < 0 {
		r.readNewest(ctx, func(tag.Newer) bool { return true }) // it may be one that rules never offer
	}
	return kind
}

// holds returns which candidate a rolling tag holds, by its index; as many as there are for what
// runs, and -1 when that is not known.
func (r *kindReader) holds(rolling tagKind) int {
	current := r.Image().Tag.Value
	isHeld := func(name, digest string) bool {
		return digest != "" && digest == rolling.Digest || rolling.Version != "" && tag.Names(name, rolling.Version)
	}
	for i, c := range r.all {
		if isHeld(c.Tag, r.known[c.Tag].Digest) {
			return i
		}
	}
	if isHeld(current, "") || slices.Contains(candidate.IDs(*r.Image()), rolling.Digest) {
		return len(r.all)
	}
	return -1
}

// builtBefore says how much earlier than something else an image was built.
func builtBefore(built, other sdk.Time) phrase.Phrase {
	from, to := built.UTC(), other.UTC()
	months := 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
	if to.Day() < from.Day() {
		months--
	}
	if months >= 24 {
		return phrase.New("%d years", months/12)
	}
	return phrase.New("%d months", months)
}

// dropping says why a candidate is not offered.
func (r *kindReader) dropping(ctx context.Context, name string, kind tagKind) tag.Dropped {
	if kind.Artifact != "" {
		return tag.Dropped{Reason: tag.ReasonArtifact, Detail: artifactText(kind.Artifact)}
	}
	if why := r.implausible(ctx, name, kind); why != nil {
		return tag.Dropped{Reason: tag.ReasonImplausible, Detail: why}
	}
	return tag.Dropped{}
}

func artifactText(artifact string) phrase.Phrase {
	if artifact == "application/vnd.cncf.helm.config.v1+json" {
		return phrase.New("it is no image but a Helm chart")
	}
	return phrase.New("it is no image but of the type %.100q", artifact)
}

// kind returns what a candidate is; told is false when that could not be found out.
func (r *kindReader) kind(ctx context.Context, c tag.Newer) (kind tagKind, told bool) {
	kind, told = r.known[c.Tag]
	if told && (r.isFresh(kind) || !kind.Unread && r.dropping(ctx, c.Tag, kind).Reason == "") {
		return kind, true
	}
	if !r.mayOffer(c) {
		return kind, told
	}
	if read, found := r.inspect(ctx, c.Tag, kind); found {
		return read, true
	}
	return kind, told
}
