package registryquery

import (
	"context"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

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
		r.readAgedImages(ctx)
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
		r.all, r.leaps = r.Answer.Selection.Tags, r.Answer.Selection.Leaps
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
		if !kind.Created.IsZero() {
			r.Answer.Date(c.Tag, kind.Created)
		}
		switch why := r.dropping(ctx, c.Tag, kind); {
		case why.Reason != "":
			r.drop(c.Tag, why)
			r.doubt[level] = tag.Dropped{Reason: why.Reason, Detail: notRead()}
		case settled[level]:
		case told || r.doubt[level].Reason == "":
			settled[level] = true
		default:
			r.drop(c.Tag, r.doubt[level])
			unread[level] = true
		}
	}
	for level := range count {
		more = more || count[level] >= tag.MaxPerLevel && !settled[level] && !unread[level]
	}
	return more
}

// judgeTarget reads what is about to be offered: rules and choices may hold what comes before it.
func (r *kindReader) judgeTarget(ctx context.Context) {
	isUnread := func(c tag.Newer) bool {
		_, isRead := r.known[c.Tag]
		return !isRead
	}
	for r.left > 0 && slices.ContainsFunc(r.Answer.Selection.Tags, isUnread) && !r.offersFirst() {
		target, _ := r.offers(r.opt.Now())
		if _, isRead := r.known[target.Tag]; isRead || target.Kind != sdk.KindTag {
			return
		}
		kind, told := r.kind(ctx, tag.Newer{Tag: target.Tag, Diff: target.Diff})
		why := r.dropping(ctx, target.Tag, kind)
		if !told || why.Reason == "" {
			return
		}
		r.drop(target.Tag, why)
		r.withoutDropped()
	}
}

// offersFirst reports whether the first candidate has been offered and nothing can hold it, so that
// what comes behind it does not matter.
func (r *kindReader) offersFirst() bool {
	c, first := r.Container, r.Answer.Selection.Tags[0]
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

// maxSkipped is how many skipped versions a result names.
const maxSkipped = 5

// notRead is why a candidate is not offered behind one that is not either.
func notRead() phrase.Phrase {
	return phrase.New("it has not been read yet, and newer ones are not offered")
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
		if why.Reason == tag.ReasonImplausible && !kind.Created.IsZero() && len(skipped) < maxSkipped {
			text := name + strings.TrimPrefix(why.Detail.String(), "it")
			skipped = append(skipped, sdk.Skipped{Tag: name, Created: kind.Created, Text: text})
		}
	}
	return skipped
}
