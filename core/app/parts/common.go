package parts

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/core/watch/schedule"
	"github.com/dogwatch/dogwatch/internal/contained"
	"github.com/dogwatch/dogwatch/sdk"
)

// Options are what the parts are made of that every Dogwatch has.
type Options struct {
	Config   *config.Config
	Builtins []plugin.Builtin
	Version  string
	Log      hclog.Logger
	Redactor *logging.Redactor
	Now      func() time.Time
}

// UserAgent is how Dogwatch names itself to other services, as its plugins do: "dogwatch/1.2.3".
func (o Options) UserAgent() string { return "dogwatch/" + o.Version }

// NewPlugins returns what holds the plugins, and the components that are configured of them. It completes their
// options by what is configured. The plugins are to be closed.
func NewPlugins(
	opt Options, hosted plugin.Options, managed component.Options,
) (*plugin.Host, *component.Manager, error) {
	settings, log := opt.Config, opt.Log.Named("app")
	hosted.Builtins = opt.Builtins
	hosted.Command = settings.Command()
	hosted.Dir = settings.Plugins.Dir
	hosted.Pinned = settings.Plugins.Trust == "pinned"
	hosted.Checksums = settings.Plugins.Checksums()
	hosted.Grants = wiring.PluginGrants(settings, log)
	hosted.Env = settings.Plugins.Env
	hosted.Isolation = wiring.Isolation(settings)
	hosted.RunDirs = plugin.RunDirs(settings.Store.Path)
	hosted.Contained = contained.Here()
	hosted.RegistryTimeout = settings.Check.Timeout
	hosted.Installed = wiring.InstalledPlugins(settings, log)
	hosted.Version = opt.Version
	hosted.Log = opt.Log
	hosted.Now = opt.Now
	hosted.Redact = opt.Redactor.String
	plugins, err := plugin.New(hosted)
	if err != nil {
		return nil, nil, err
	}
	managed.Plugins = plugins
	managed.Log = opt.Log
	managed.Secrets = opt.Redactor.Add
	managed.ValidateWatcher = wiring.ValidateWatcher
	managed.ValidateTrigger = wiring.ValidateTrigger
	return plugins, component.New(managed), nil
}

// NewChecks returns what finds newer versions by the components, and decides what becomes of them. It completes their
// options by what is configured.
func NewChecks(
	opt Options, components *component.Manager, decided decision.Options, asked registryquery.Options,
	checked check.Options,
) (*decision.Decisions, *registryquery.Client, *check.Checker) {
	settings, registries := opt.Config.Check, wiring.Registries{Components: components}
	var checker *check.Checker
	decided.WriteReleaseLinks = func(c *sdk.Container) error { return checker.WriteReleaseLinks(c) }
	decided.Log = opt.Log
	decided.Now = opt.Now
	decisions := decision.New(decided)
	asked.Registries = registries
	asked.Limits = registryquery.Limits{PerHost: settings.PerHost, Total: settings.Total}
	asked.Reports = registries.Limits
	asked.Spare = registries.Limits
	asked.ReadCandidates = true
	asked.Decisions = decisions
	asked.Log = opt.Log.Named("registries")
	asked.Now = opt.Now
	queries := registryquery.New(asked)
	checked.Queries = queries
	checked.Decisions = decisions
	checked.Labels = wiring.Labels(opt.Config)
	checked.WatchFloating = settings.Floating
	checked.Order = components.WatcherNames
	checked.Log = opt.Log
	checked.Now = opt.Now
	checker = check.New(checked)
	return decisions, queries, checker
}

// CheckWatchers checks the containers of watchers. The errors are those of watchers that cannot be checked.
func CheckWatchers(ctx context.Context, checker *check.Checker, watchers []*component.Watcher) []error {
	return component.EachWatcher(watchers, func(w *component.Watcher) error {
		_, err := checker.Run(ctx, schedule.CheckWatcher(w))
		return err
	})
}
