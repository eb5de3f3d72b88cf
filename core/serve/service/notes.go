package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/sdk"
)

// Notes reads release notes; see notes.Reader.
type Notes interface {
	Of(ctx context.Context, c *sdk.Container) notes.Notes
}

// HasNotes reports whether release notes are read at all.
func (s *Service) HasNotes() bool { return s.opt.Notes != nil }

// Notes returns the release notes of what a container is offered. Hosts of repositories
// are asked where the notes that are stored are too old.
func (s *Service) Notes(ctx context.Context, c sdk.Container) notes.Notes {
	if !s.HasNotes() {
		return notes.Notes{Notes: []notes.Note{}, Reason: "release notes are switched off by notes.enabled"}
	}
	n := s.opt.Notes.Of(ctx, &c)
	n.Reason = s.opt.Redact(n.Reason)
	return n
}
