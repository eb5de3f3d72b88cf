package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// Visible reports whether an identity sees events of a type: a token does not see
// who logged in.
func Visible(who auth.Identity, t event.Type) bool { return who.Person() || !t.Private() }

// History returns the events that a filter selects and that the actor sees, the newest first.
func (s *Service) History(ctx context.Context, actor auth.Actor, f event.Filter) ([]event.Event, error) {
	f.Public = !actor.Person()
	found, err := s.opt.Store.History(ctx, f)
	for i := range found {
		found[i] = s.RedactEvent(found[i])
	}
	return found, err
}

// LastEvent returns the id of the newest event.
func (s *Service) LastEvent(ctx context.Context) (int64, error) { return s.opt.Store.LastEvent(ctx) }
