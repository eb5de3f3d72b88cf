package registryquery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

// maxScopeHints is how many repositories are named to a registry as token
// scope hints. How many of them share a token is for the registry to decide; this
// only keeps a request short.
const maxScopeHints = 120

// group is the questions about one repository.
type group struct {
	repository
	questions []*Question
}

// Ask fills in the answers of questions, all of a repository at a time, and calls answered with those that have theirs,
// from several goroutines. It returns when all have, if only with an error.
func (cl *Client) Ask(ctx context.Context, questions []*Question, answered func([]*Question)) {
	var wait sync.WaitGroup
	hosts, rest := byHost(questions)
	if len(rest) > 0 {
		answered(rest)
	}
	for name, groups := range hosts {
		if cl.opt.Budget.Of(name).Limited() {
			oldestFirst(groups)
		}
		queue := make(chan *group, len(groups))
		for _, g := range groups {
			queue <- g
		}
		close(queue)
		for range min(max(cl.opt.Limits.PerHost, 1), len(groups)) {
			wait.Go(func() {
				for g := range queue {
					cl.askGroup(ctx, g)
					answered(g.questions)
				}
			})
		}
	}
	wait.Wait()
}

// byHost groups the questions that need requests to registries by repository, and
// the groups by host. The rest have their answer.
func byHost(questions []*Question) (hosts map[string][]*group, rest []*Question) {
	found := map[string]*group{}
	hosts = map[string][]*group{}
	for _, q := range questions {
		if q.Answer.Err != nil || !q.wantsTags() && !q.wantsDigest() {
			rest = append(rest, q)
			continue
		}
		img := *q.Image()
		key := q.Match.ID + " " + img.Registry.Host + "/" + img.Name
		g := found[key]
		if g == nil {
			g = &group{repository: repository{q.Match, registry.Repository{Host: img.Registry.Host, Name: img.Name}}}
			found[key] = g
			hosts[img.Registry.Host] = append(hosts[img.Registry.Host], g)
		}
		g.questions = append(g.questions, q)
	}
	for _, groups := range hosts {
		slices.SortFunc(groups, func(a, b *group) int { return strings.Compare(a.repo.Name, b.repo.Name) })
		for chunk := range slices.Chunk(groups, maxScopeHints) {
			var names []string
			for _, g := range chunk {
				names = append(names, g.repo.Name)
			}
			for _, g := range chunk {
				g.repo.ScopeHints = names
			}
		}
	}
	return hosts, rest
}

// oldestFirst has those repositories asked about first whose last check is longest ago,
// so that a budget which is too small for all of them leaves none out for ever.
func oldestFirst(groups []*group) {
	checked := func(g *group) time.Time {
		oldest := g.questions[0].Container.Check.At.Time
		for _, q := range g.questions[1:] {
			if at := q.Container.Check.At.Time; at.Before(oldest) {
				oldest = at
			}
		}
		return oldest
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return checked(a).Compare(checked(b)) })
}

// askGroup fetches what is needed of one repository: its tags if a container runs a version, and
// the digest behind each tag that is watched by digest.
func (cl *Client) askGroup(ctx context.Context, g *group) {
	cl.askTags(ctx, g)
	type resolved struct {
		digest string
		err    error
	}
	digests := map[string]resolved{}
	for _, q := range g.questions {
		if !q.comparesDigest() {
			continue
		}
		name := q.Image().Tag.Value
		r, fetched := digests[name]
		if !fetched {
			r.digest, r.err = cl.resolve(ctx, g.repository, name)
			digests[name] = r
		}
		switch {
		case r.err != nil:
			q.fail(r.err)
		case r.digest == "":
			q.Answer.Uncompared = fmt.Sprintf("%s gives no digest of the tag %s", g.repo.Host, name)
		default:
			q.Answer.Digest, q.Answer.Err = cl.compare(ctx, g.repository, q, r.digest)
		}
	}
	cl.nameVersions(ctx, g.repo, g.questions)
}

// askTags selects among the tags of a repository, for every container that
// runs a version of it. The tags are not kept: there may be very many.
func (cl *Client) askTags(ctx context.Context, g *group) {
	if !slices.ContainsFunc(g.questions, (*Question).wantsTags) {
		return
	}
	tags, err := cl.tags(ctx, g.repository)
	for _, q := range g.questions {
		switch {
		case !q.wantsTags():
		case err != nil:
			q.fail(err)
		default:
			q.Answer.Tags = len(tags)
			q.selectTags(ctx, tags)
			q.float(tags)
			cl.readCandidates(ctx, q, tags)
		}
	}
}
