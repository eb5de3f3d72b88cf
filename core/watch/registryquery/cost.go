package registryquery

import "context"

// Requests returns how many requests it takes at most to answer questions, by host: one for the
// tags of a repository, and one for each tag whose digest is watched.
func Requests(questions []*Question) map[string]int {
	requests, seen := map[string]int{}, map[string]bool{}
	count := func(host, key string) {
		if !seen[key] {
			seen[key] = true
			requests[host]++
		}
	}
	for _, q := range questions {
		if q.Answer.Err != nil {
			continue
		}
		img := *q.Image()
		repository := q.Match.ID + " " + img.Registry.Host + "/" + img.Name
		if q.wantsTags() {
			count(img.Registry.Host, repository)
		}
		if q.wantsDigest() {
			count(img.Registry.Host, repository+":"+img.Tag.Value)
		}
	}
	return requests
}

// Shortage is that answering questions takes more requests than a host allows now.
type Shortage struct {
	Needs, Left int
	// Allowed says what leaves the host the fewest requests, and who says so.
	Allowed string
}

// Shortage returns the shortage of a host for as many questions, if there is one. It makes no request.
func (cl *Client) Shortage(ctx context.Context, host string, questions int) (s Shortage, short bool) {
	cl.limiter.readReport(ctx, host)
	use := cl.opt.Budget.Of(host)
	s = Shortage{Needs: cl.opt.Budget.Cost(host, questions), Left: use.Left(), Allowed: allowed(use)}
	return s, use.Limited() && s.Needs > s.Left
}
