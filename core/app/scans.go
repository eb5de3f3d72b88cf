package app

import (
	"context"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// demoScanTime is how long the simulated scan of an image takes.
const demoScanTime = 2 * time.Second

// scans have images scanned for vulnerabilities.
type scans interface {
	service.Scans
	Compared(c *sdk.Container, to policy.Candidate) (vulnerability.Summary, bool)
	Summary(c *sdk.Container, digest string) (vulnerability.Summary, bool)
	Verdict(c *sdk.Container) scan.Verdict
}

// makeScans makes what has images scanned.
func (a *App) makeScans(ctx context.Context, images wiring.Updates) error {
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
	made := scan.New(scan.Options{
		Scanner: scanner, Store: a.store, MaxAge: settings.MaxAge, Automatic: settings.Automatic, Hold: hold,
		Images: func(ctx context.Context, c sdk.Container) (running, offered scan.Image, err error) {
			from, to, err := a.updater.Images(ctx, c)
			if err != nil {
				return running, offered, err
			}
			credentials, err := a.scanCredentials(ctx, images, c)
			if err != nil {
				return running, offered, err
			}
			of := func(image watcher.PlannedImage) scan.Image {
				return scan.Image{
					Reference: c.Image.Registry.Host + "/" + c.Image.Name + "@" + image.Digest, Digest: image.Digest,
					Platform: scan.PlatformOf(&c), Host: c.Image.Registry.Host, Credentials: credentials,
				}
			}
			return of(from), of(to), nil
		},
		Changed: a.decisions.RedecideSoon, Progressed: func() { a.bus.Touch(event.ScanProgressed) },
		Redact: a.opt.Redactor.String,
		Log:    a.opt.Log, Now: a.opt.Now,
	})
	a.scans = made
	return made.Load(ctx)
}

// scanCredentials returns those of the registry of a container's image, if the scanner may have them.
func (a *App) scanCredentials(ctx context.Context, images wiring.Updates, c sdk.Container) (sdk.Credentials, error) {
	if !a.opt.Config.Scan.Credentials {
		return sdk.Credentials{}, nil
	}
	return images.CredentialsOf(ctx, c)
}

// vulnerabilities says how the image of an update compares with the one that runs, for its plan.
func (a *App) vulnerabilities(c sdk.Container, digest string) (text string, known bool) {
	summary, known := a.scans.Summary(&c, digest)
	return fmt.Sprintf("of the vulnerabilities that were found, the new image %s", summary), known
}

// scanImages scans what is asked for, and what rules about security fixes want scanned,
// until ctx ends.
func (a *App) scanImages(ctx context.Context) error {
	// Without its configured registry an image would be looked up elsewhere.
	made, enabled := a.scans.(*scan.Scans)
	if !enabled || a.components.Await(ctx, kind.Registry) != nil {
		return nil
	}
	early := make(chan struct{})
	go func() {
		defer close(early)
		sub := a.bus.Subscribe()
		defer sub.Close()
		for ctx.Err() == nil {
			made.Early(wiring.Containers{Store: a.store}.Shared(), a.layers().Rules)
			_ = sub.Wait(ctx) // either way it is time to look again
		}
	}()
	err := made.Run(ctx)
	<-early
	return err
}
