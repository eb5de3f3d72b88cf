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

// Batch is questions that are asked together.
type Batch struct {
	client *Client
	// hosts are the questions that need requests to registries, by the host and then by repository. The rest have
	// their answer.
	hosts map[string][]*group
	rest  []*Question
	since time.Time
}

// Batch groups questions, so that each of a repository is asked once.
func (cl *Client) Batch(questions []*Question) *Batch {
	found := map[string]*group{}
	b := &Batch{client: cl, hosts: map[string][]*group{}}
	for _, q := range questions {
		if q.Answer.Err != nil || !q.wantsTags() && !q.wantsDigest() {
			b.rest = append(b.rest, q)
			continue
		}
		img := q.Image()
		repo := q.repository(registry.Repository{Host: img.Registry.Host, Name: img.Name})
		g := found[repo.key()]
		if g == nil {
			g = &group{repository: repo}
			found[repo.key()] = g
			b.hosts[g.Host] = append(b.hosts[g.Host], g)
		}
		g.questions = append(g.questions, q)
	}
	for _, groups := range b.hosts {
		slices.SortFunc(groups, func(a, b *group) int { return strings.Compare(a.Name, b.Name) })
		for chunk := range slices.Chunk(groups, maxScopeHints) {
			var names []string
			for _, g := range chunk {
				if g.source == "" {
					names = append(names, g.Name)
				}
			}
			for _, g := range chunk {
				if g.source == "" {
					g.ScopeHints = names
				}
			}
		}
	}
	return b
}

// ShareSince has responses to requests of other batches count that began at since or later, as long as none of the
// containers that it is about has been checked after that; see ShareTime.
func (b *Batch) ShareSince(since time.Time) {
	b.since = since
	for _, groups := range b.hosts {
		for _, g := range groups {
			g.since = since
			for _, q := range g.questions {
				// Which is cut to milliseconds, and zero before the first check.
				if after := q.Container.Check.At.Add(time.Millisecond); after.After(g.since) {
					g.since = after
				}
			}
		}
	}
}

// Requests returns how many requests it takes at most to answer the questions, by host.
func (b *Batch) Requests() map[string]int {
	requests := make(map[string]int, len(b.hosts))
	for host, groups := range b.hosts {
		for _, g := range groups {
			requests[host] += g.requests()
		}
	}
	return requests
}

// requests returns how many requests a repository takes at most: one for its tags, and one for each tag whose digest
// is watched.
func (g *group) requests() (n int) {
	if slices.ContainsFunc(g.questions, (*Question).wantsTags) {
		n++
	}
	var watched []string
	for _, q := range g.questions {
		if q.wantsDigest() {
			watched = append(watched, q.Image().Tag.Value)
		}
	}
	slices.Sort(watched)
	return n + len(slices.Compact(watched))
}

// Ask fills in the answers, all of a repository at a time, and calls answered with those questions that have theirs,
// from several goroutines. It returns when all have, if only with an error.
func (b *Batch) Ask(ctx context.Context, answered func([]*Question)) {
	var wait sync.WaitGroup
	if len(b.rest) > 0 {
		answered(b.rest)
	}
	for name, groups := range b.hosts {
		if b.client.opt.Budget.Of(name).Limited() {
			oldestFirst(groups)
		}
		queue := make(chan *group, len(groups))
		for _, g := range groups {
			queue <- g
		}
		close(queue)
		for range min(max(b.client.opt.Limits.PerHost, 1), len(groups)) {
			wait.Go(func() {
				for g := range queue {
					b.client.askGroup(ctx, g)
					answered(g.questions)
				}
			})
		}
	}
	wait.Wait()
	if !b.since.IsZero() {
		time.AfterFunc(ShareTime, b.client.expireShared)
	}
}

// oldestFirst has those repositories asked about first whose last check is longest ago,
// so that a budget which is too small for all of them leaves none out for ever.
func oldestFirst(groups []*group) {
	checked := func(g *group) time.Time {
		oldest := g.questions[0].Container.Check.At.Time
		for _, q := range g.questions[1:] {
			if last := q.Container.Check.At.Time; last.Before(oldest) {
				oldest = last
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
			q.Answer.Uncompared = fmt.Sprintf("%s gives no digest of the tag %s", g.Host, name)
		default:
			q.Answer.Digest, q.Answer.Err = cl.compare(ctx, g.repository, q, r.digest)
		}
	}
	cl.nameVersions(ctx, g.Repository, g.questions)
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
