package registryquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
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
	// Made is when the image was built, or pushed where nothing else is known without a pull; zero
	// for what says no date that can be believed.
	Made    sdk.Time `json:"made,omitzero"`
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
	known := map[string]tagKind{}
	if _, body, cached := cl.opt.Cache.Get(ctx, kindsKey(img.Registry.Host, img.Name)); cached {
		_ = json.Unmarshal(body, &known) // what cannot be read is found out again
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
			isCandidate := slices.ContainsFunc(r.all, func(c tag.Candidate) bool { return c.Tag == name })
			return !isCandidate && name != rolling && name != img.Tag.Value && r.dropped[name].Reason == ""
		})
	}
	if body, err := json.Marshal(r.known); err == nil {
		r.opt.Cache.Put(ctx, kindsKey(img.Registry.Host, img.Name), "", body)
	}
}

// kindReader finds out what the candidates of a container are.
type kindReader struct {
	*Client
	*Question
	all   []tag.Candidate // the best first, with those that are dropped
	leaps []string        // those of them whose number is out of all proportion
	tags  []string        // of the repository
	known map[string]tagKind
	read  bool // known has changed
	left  int  // how many may be read
	began time.Time

	dropped map[string]tag.Dropped
	order   []string       // of those that are dropped
	doubt   [3]tag.Dropped // of each step, why what is not read is not offered either
}

// readCandidates drops those candidates of a container, among the tags of its repository, that
// are no images or implausible, and fetches the dates that its rules ask for.
func (cl *Client) readCandidates(ctx context.Context, q *Question, tags []string) {
	if q.Answer.Err != nil || !q.Answer.Selection.Newer {
		return
	}
	img := *q.Image()
	r := kindReader{
		Client: cl, Question: q, tags: tags, known: cl.kinds(ctx, img), dropped: map[string]tag.Dropped{},
		began: cl.opt.Now(),
	}
	if cl.opt.ReadCandidates && cl.opt.Spare != nil {
		r.left = maxDatesPerCheck
	}
	r.judgeAll(ctx)
	if q.Answer.Err == nil {
		r.dates(ctx)
		r.withoutDropped()
		r.judgeTarget(ctx)
		r.pinTargets(ctx)
		r.judgeVerdicts(ctx)
	}
	q.Answer.Skipped = r.skipped()
	if r.read {
		r.keepKinds(ctx)
	}
}

// judgeAll is judge, with those candidates as well that come behind many that are dropped.
func (r *kindReader) judgeAll(ctx context.Context) {
	for tags := r.tags; ; {
		r.all, r.leaps = r.Answer.Selection.Candidates, r.Answer.Selection.Leaps
		more := r.judge(ctx)
		r.withoutDropped()
		if !more {
			return
		}
		tags = slices.DeleteFunc(slices.Clone(tags), func(name string) bool { return r.dropped[name].Reason != "" })
		if r.selectTags(ctx, tags); r.Answer.Err != nil {
			return
		}
		r.withoutDropped() // for their verdicts
	}
}

// judge drops the candidates that are not to be offered. Repositories have Helm charts beside the
// images, and versions that were abandoned or mistyped, which names do not tell. So the newest
// candidate of each step is read once, unless that counts as a pull, and those whose number is
// out of all proportion. A step goes on to the next candidate until one is an image and
// plausible. What cannot be read counts as that, but not behind something that is dropped. more
// is whether there may be others behind all candidates of a step, which are dropped.
func (r *kindReader) judge(ctx context.Context) (more bool) {
	var settled, unread [3]bool
	var count [3]int
	r.readNewest(ctx, r.mayOffer) // first: what a rolling tag holds is known by their digests
	for _, c := range r.all {
		level := candidate.Level(c.Diff)
		count[level]++
		kind, told := r.known[c.Tag]
		if !settled[level] || slices.Contains(r.leaps, c.Tag) {
			kind, told = r.kind(ctx, c)
		}
		if !kind.Made.IsZero() {
			r.Answer.Date(c.Tag, kind.Made)
		}
		switch why := r.dropping(ctx, c.Tag, kind); {
		case why.Reason != "":
			r.drop(c.Tag, why)
			r.doubt[level] = tag.Dropped{Reason: why.Reason, Detail: unreadText}
		case settled[level]:
		case told || r.doubt[level].Reason == "":
			settled[level] = true
		default:
			r.drop(c.Tag, r.doubt[level])
			unread[level] = true
		}
	}
	for level := range count {
		more = more || count[level] >= tag.MaxCandidates && !settled[level] && !unread[level]
	}
	return more
}

// judgeTarget reads what is about to be offered: rules and choices may hold what comes before it.
func (r *kindReader) judgeTarget(ctx context.Context) {
	isUnread := func(c tag.Candidate) bool {
		_, isRead := r.known[c.Tag]
		return !isRead
	}
	for r.left > 0 && slices.ContainsFunc(r.Answer.Selection.Candidates, isUnread) && !r.offersFirst() {
		of, _ := r.offers(r.opt.Now())
		if _, isRead := r.known[of.Tag]; isRead || of.Kind != sdk.KindTag {
			return
		}
		kind, told := r.kind(ctx, tag.Candidate{Tag: of.Tag, Diff: of.Diff})
		why := r.dropping(ctx, of.Tag, kind)
		if !told || why.Reason == "" {
			return
		}
		r.drop(of.Tag, why)
		r.withoutDropped()
	}
}

// offersFirst reports whether the first candidate has been offered and nothing can hold it, so that
// what comes behind it does not matter.
func (r *kindReader) offersFirst() bool {
	c, first := r.Container, r.Answer.Selection.Candidates[0]
	return c.UpdateAvailable && c.Result != nil && c.Result.Tag == first.Tag && r.mayOffer(first) &&
		r.Rules.MinAge.Value <= 0 && r.Rules.Skip.Value == nil &&
		!r.opt.Decisions.Chosen(event.Subject(c))
}

// judgeVerdicts drops what is known of tags that are no candidates, for an explanation.
func (r *kindReader) judgeVerdicts(ctx context.Context) {
	if r.Answer.Why == nil {
		return
	}
	for _, v := range r.Answer.Why.Verdicts {
		if why := r.dropping(ctx, v.Tag, r.known[v.Tag]); v.Kept && why.Reason != "" {
			r.drop(v.Tag, why)
		}
	}
	r.withoutDropped()
}

// readNewest reads the newest candidate of each step, if it is among those that are wanted.
func (r *kindReader) readNewest(ctx context.Context, wanted func(tag.Candidate) bool) {
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
func (r *kindReader) mayOffer(c tag.Candidate) bool {
	return policy.Passes(r.Rules.Threshold.Value, sdk.KindTag, c.Diff)
}

// dropping says why a candidate is not offered.
func (r *kindReader) dropping(ctx context.Context, name string, kind tagKind) tag.Dropped {
	if kind.Artifact != "" {
		return tag.Dropped{Reason: tag.ReasonArtifact, Detail: artifactText(kind.Artifact)}
	}
	if why := r.implausible(ctx, name, kind); why != "" {
		return tag.Dropped{Reason: tag.ReasonImplausible, Detail: "it " + why}
	}
	return tag.Dropped{}
}

// unreadText is why a candidate is not offered behind one that is not either.
const unreadText = "it has not been read yet, and newer ones are not offered"

func artifactText(artifact string) string {
	if artifact == "application/vnd.cncf.helm.config.v1+json" {
		return "it is no image but a Helm chart"
	}
	return fmt.Sprintf("it is no image but of the type %.100q", artifact)
}

// drop notes that a candidate is not offered.
func (r *kindReader) drop(name string, why tag.Dropped) {
	if _, is := r.dropped[name]; !is {
		r.order = append(r.order, name)
	}
	r.dropped[name] = why
}

// withoutDropped leaves what is dropped out of what a check found.
func (r *kindReader) withoutDropped() {
	if len(r.dropped) == 0 {
		return
	}
	current := r.Image().Tag.Value
	if why := r.Answer.Why; why != nil {
		*why = why.Without(current, r.dropped)
		r.Answer.Selection = why.Selection
		return
	}
	r.Answer.Selection = r.Answer.Selection.Without(current, r.dropped)
}

// skipped returns those that are implausible.
func (r *kindReader) skipped() (skipped []sdk.Skipped) {
	for _, name := range r.order {
		kind, why := r.known[name], r.dropped[name]
		if why.Reason == tag.ReasonImplausible && !kind.Made.IsZero() && len(skipped) < maxSkipped {
			text := name + strings.TrimPrefix(why.Detail, "it")
			skipped = append(skipped, sdk.Skipped{Tag: name, Created: kind.Made, Text: text})
		}
	}
	return skipped
}

func (r *kindReader) isFresh(kind tagKind) bool { return r.opt.Now().Sub(kind.At) < droppedFresh }

// kind returns what a candidate is; told is false when that could not be found out.
func (r *kindReader) kind(ctx context.Context, c tag.Candidate) (kind tagKind, told bool) {
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

// inspect reads a candidate, of which earlier is known.
func (r *kindReader) inspect(ctx context.Context, name string, earlier tagKind) (kind tagKind, told bool) {
	if r.left == 0 {
		return earlier, false
	}
	r.left--
	var result reading
	var err error
	if earlier.Digest == "" {
		result, err = r.Client.inspect(ctx, r.release(name), false)
	} else {
		result, err = r.inspectAgain(ctx, r.release(name), func(digest string) (reading, bool) {
			return earlier.result(), digest == earlier.Digest && !earlier.Unread
		})
	}
	return r.keep(name, result, err)
}

func (r *kindReader) release(tag string) candidate.Release {
	img := *r.Image()
	return candidate.Release{Host: img.Registry.Host, Name: img.Name, Tag: tag, Platform: img.Platform()}
}

// keep notes what came of reading a tag; told is false when nothing did.
func (r *kindReader) keep(name string, result reading, err error) (kind tagKind, told bool) {
	var why noneToSpare
	switch {
	case errors.As(err, &why):
		r.left = 0
		return kind, false
	case err != nil && !errors.Is(err, errPull):
		return kind, false
	}
	kind = tagKind{
		Artifact: result.artifact, Digest: result.digest, Made: result.created, Version: result.version,
		Unread: err != nil, At: r.opt.Now(),
	}
	kind.Since = sdk.TimeOf(kind.At).Time
	if earlier, is := r.known[name]; is && earlier.Digest == kind.Digest {
		kind.Since = earlier.Since
	}
	if !kind.Made.IsZero() {
		r.Answer.Date(name, kind.Made)
	}
	r.known[name], r.read = kind, true
	return kind, true
}

func (k tagKind) result() reading {
	return reading{created: k.Made, artifact: k.Artifact, digest: k.Digest, version: k.Version}
}
