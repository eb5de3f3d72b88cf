package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/update/updater"
)

// ImageDiff says what the update of a container would change in its image. The error is
// an ErrNotFound when there is no such container, and else one of updater.Runner.ImageDiff.
func (s *Service) ImageDiff(ctx context.Context, actor auth.Actor, id string) (updater.ImageDiff, error) {
	if err := allow(actor, auth.Read, "compare images"); err != nil {
		return updater.ImageDiff{}, err
	}
	rec, err := s.Container(id)
	if err != nil {
		return updater.ImageDiff{}, err
	}
	if s.opt.Updater == nil {
		return updater.ImageDiff{}, fmt.Errorf("%s/%s: %w", rec.Container.Watcher, rec.Container.Name, updater.ErrUnsupported)
	}
	d, err := s.opt.Updater.ImageDiff(ctx, rec.Container)
	if err != nil {
		return updater.ImageDiff{}, s.safe(err)
	}
	d.Changes, d.Warnings = slices.Clone(d.Changes), slices.Clone(d.Warnings)
	for i := range d.Changes {
		c := &d.Changes[i]
		c.Name, c.Before, c.After = s.opt.Redact(c.Name), s.opt.Redact(c.Before), s.opt.Redact(c.After)
	}
	for i := range d.Warnings {
		d.Warnings[i].Text = s.opt.Redact(d.Warnings[i].Text)
	}
	return d, nil
}
