package app

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/dogwatch/dogwatch/core/app/parts"
	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web"
)

// makeService makes the application behind the HTTP interface and the pages.
func (a *App) makeService(context.Context) error {
	a.service = service.New(service.Options{
		Config:     a.reloader.Current,
		Version:    a.opt.Version,
		Store:      a.store,
		Components: a.components,
		Installs:   a.installer,
		Plugins:    a.plugins,
		Checks:     a.scheduler,
		Triggers:   a.dispatcher,
		TestRuns: wiring.TestRunner(a.components, wiring.Containers{Store: a.store}.Uses, a.links,
			a.devices, a.opt.Log),
		Devices:    a.devices,
		Updater:    a.updater,
		Operations: a.store,
		Logs:       wiring.Logs{Components: a.components},
		Policies:   policies{a.decisions, a.layers()},
		Rules:      a.layers().Rules,
		Auth:       a.auth,
		Reloader:   a.reloader,
		Links:      a.links,
		Notes:      a.notes,
		Webhooks:   a.webhooks,
		Agents:     a.agents,
		Scans:      a.scans,
		Choices:    a.choices,
		Redact:     a.opt.Redactor.String,
		Demo:       a.opt.Demo,
		Log:        a.opt.Log,
		Recent:     a.opt.Recent,
		Now:        a.opt.Now,
	})
	a.parts.Add(parts.Part{Name: "memory", Run: a.releaseMemory})
	if a.opt.Recent != nil {
		a.parts.Add(parts.Part{Name: "log", Run: a.followLog})
	}
	return nil
}

// makeServer makes the pages and the server, which listens from then on.
func (a *App) makeServer(context.Context) error {
	pages := web.New(web.Options{
		BasePath:       a.opt.Config.Server.BasePath,
		Version:        a.opt.Version,
		Service:        a.service,
		Logins:         a.auth,
		Links:          a.links,
		FrameAncestors: a.opt.Config.Server.Frames,
		PageViewed:     a.pageViews.Set,
		TaskChanged:    func() { a.bus.Touch(event.WorkChanged) },
		Want:           a.wantForPages,
		WantVersions:   a.dates.WantVersions,
		Log:            a.opt.Log,
		Now:            a.opt.Now,
	})
	a.parts.Add(parts.Part{Name: "pages", Close: pages.Close})
	server, err := api.Listen(api.Options{
		Config:  a.opt.Config,
		Version: a.opt.Version,
		Service: a.service,
		Auth:    a.auth,
		Events:  a.store,
		Bus:     &a.bus,
		Metrics: a.metrics,
		Agents:  a.agents,
		Pages:   pages,
		Redact:  a.opt.Redactor.String,
		Log:     a.opt.Log,
		Now:     a.opt.Now,
	})
	if err != nil || server == nil {
		return err
	}
	a.parts.Add(parts.Part{Name: "server", Run: server.Serve})
	if a.opt.Listening != nil {
		a.opt.Listening(server.Addr())
	}
	return nil
}

// logPause is the least time between two signals that something was logged.
const logPause = time.Second

// followLog signals to pages that show the log that something was logged.
func (a *App) followLog(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.opt.Recent.Written():
			a.bus.Touch(event.LogWritten)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPause):
		}
	}
}

func (a *App) releaseMemory(ctx context.Context) error {
	checking := func() bool { return len(a.checker.Progress()) > 0 }
	return releaseWhenIdle(ctx, &a.bus, a.pageViews, checking, debug.FreeOSMemory)
}
