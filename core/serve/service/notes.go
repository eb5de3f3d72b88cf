package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/sdk"
)

// Notes reads release notes; see notes.Reader.
type Notes interface {
	// Enabled reports whether release notes are read at all.
	Enabled() bool
	Of(ctx context.Context, c *sdk.Container) notes.Notes
	Known(ctx context.Context, c *sdk.Container) notes.Notes
}

// HasNotes reports whether release notes are read at all.
func (s *Service) HasNotes() bool { return s.opt.Notes.Enabled() }

// Notes returns the release notes of what a container is offered. Hosts of repositories
// are asked where the notes that are stored are too old.
func (s *Service) Notes(ctx context.Context, c sdk.Container) notes.Notes {
	n := s.opt.Notes.Of(ctx, &c)
	n.Reason = s.opt.Redact(n.Reason)
	return n
}
