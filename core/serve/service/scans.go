package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// Scans has images scanned for vulnerabilities; see scan.Scans.
type Scans interface {
	// Enabled reports whether there is a scanner.
	Enabled() bool
	Request(c sdk.Container, actor string) error
	Status(ctx context.Context, c *sdk.Container) (scan.Status, error)
	Counts() scan.Counts
}

// CanScan reports whether there is a scanner, and whether an actor may have it run.
func (s *Service) CanScan(actor auth.Actor) (has, may bool) {
	has = s.opt.Scans.Enabled()
	return has, has && allow(actor, auth.Write, "scan images") == nil
}

// Scan has the images of a container's update scanned, and returns at once; see
// ScanStatus. The error is a scan.ErrNoScanner, an ErrForbidden, or one of scan.Scans.Request.
func (s *Service) Scan(actor auth.Actor, c sdk.Container) error {
	if err := allow(actor, auth.Write, "scan images"); err != nil {
		return err
	}
	if err := s.opt.Scans.Request(c, actor.User); err != nil {
		return s.safe(err)
	}
	s.log.Info("scan requested", "container", c.Watcher+"/"+c.Name, "actor", actor.User, "address", actor.ClientAddress())
	return nil
}

// ScanStatus returns what is known of the vulnerabilities of a container's update. The error
// is a scan.ErrNoScanner, or that of the store.
func (s *Service) ScanStatus(ctx context.Context, c sdk.Container) (scan.Status, error) {
	return s.opt.Scans.Status(ctx, &c)
}
