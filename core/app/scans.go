package app

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// scans have images scanned for vulnerabilities.
type scans interface {
	service.Scans
	Compared(c *sdk.Container, to candidate.Candidate) (vulnerability.Summary, bool)
	Summary(c *sdk.Container, digest string) (vulnerability.Summary, bool)
	Verdict(c *sdk.Container) scan.Verdict
}

// demoScanTime is how long the simulated scan of an image takes.
const demoScanTime = 2 * time.Second

// makeScans makes what has images scanned: what is asked for, and what rules about security fixes want scanned.
func (a *App) makeScans(ctx context.Context) error {
	settings := a.opt.Config.Scan
	if !settings.Enabled() {
		a.scans = scan.None{}
		return nil
	}
	var scanner scan.Scanner = scan.NewCommand(settings)
	if a.opt.Demo {
		scanner = scan.Simulated{Time: demoScanTime}
	}
	hold, _ := vulnerability.ParseSeverity(settings.Hold)
	scans := scan.New(scan.Options{
		Scanner:    scanner,
		Images:     a.imagesToScan,
		Store:      a.store,
		MaxAge:     settings.MaxAge,
		Automatic:  settings.Automatic,
		Hold:       hold,
		Changed:    a.decisions.RedecideSoon,
		Progressed: func() { a.bus.Touch(event.ScanProgressed) },
		Redact:     a.opt.Redactor.String,
		Log:        a.opt.Log,
		Now:        a.opt.Now,
	})
	a.scans = scans
	// Without its configured registry an image would be looked up elsewhere.
	needs := a.configured(kind.Registry)
	a.parts.Add(parts.Part{Name: "scans", Needs: needs, Run: scans.Run})
	a.parts.Add(parts.Part{Name: "early scans", Needs: needs, Run: func(ctx context.Context) error {
		sub := a.bus.Subscribe()
		defer sub.Close()
		for ctx.Err() == nil {
			scans.Early(wiring.Containers{Store: a.store}.Shared(), a.layers().Rules)
			_ = sub.Wait(ctx) // either way it is time to look again
		}
		return nil
	}})
	return scans.Load(ctx)
}

// imagesToScan returns the image that a container runs and the one of its update, with the credentials of their
// registry if the scanner may have them.
func (a *App) imagesToScan(ctx context.Context, c sdk.Container) (running, offered scan.Image, err error) {
	from, to, err := a.updater.Images(ctx, c)
	if err != nil {
		return running, offered, err
	}
	var credentials sdk.Credentials
	if a.opt.Config.Scan.Credentials {
		if credentials, err = a.images().CredentialsOf(ctx, c); err != nil {
			return running, offered, err
		}
	}
	imageOf := func(image watcher.PlannedImage) scan.Image {
		return scan.Image{
			Reference:   c.Image.Registry.Host + "/" + c.Image.Name + "@" + image.Digest,
			Digest:      image.Digest,
			Platform:    scan.PlatformOf(&c),
			Host:        c.Image.Registry.Host,
			Credentials: credentials,
		}
	}
	return imageOf(from), imageOf(to), nil
}

// vulnerabilities says how the image of an update compares with the one that runs, for its plan.
func (a *App) vulnerabilities(c sdk.Container, digest string) (text string, known bool) {
	summary, known := a.scans.Summary(&c, digest)
	return fmt.Sprintf("of the vulnerabilities that were found, the new image %s", summary), known
}
