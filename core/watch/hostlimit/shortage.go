package hostlimit

import "context"

// Shortage is that answering calls takes more requests than a host allows now.
type Shortage struct {
	Needs, Left int
	// Allowed says what leaves the host the fewest requests, and who says so.
	Allowed string
}

// Shortage returns the shortage of a host for as many calls, if there is one. It makes no request.
func (l *Limiter) Shortage(ctx context.Context, host string, calls int) (s Shortage, short bool) {
	l.readReport(ctx, host)
	use := l.opt.Budget.Of(host)
	s = Shortage{Needs: l.opt.Budget.Cost(host, calls), Left: use.Left(), Allowed: allowed(use)}
	return s, use.Limited() && s.Needs > s.Left
}
