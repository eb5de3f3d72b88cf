package wiring

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/watch/schedule"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// PluginVars returns the environment variables of built-in bundles, by name: they
// carry settings that are not of one component. wud is whether an installation keeps the names of What's Up Docker
// whether or not it has a variable of it.
func PluginVars(c *config.Config, wud bool) map[string][]string {
	const key = "registries.dockerconfig"
	vars := map[string][]string{}
	if c.Registries.DockerConfig != "" {
		vars[string(kind.Registry)] = []string{config.EnvName(key) + "=" + c.Registries.DockerConfig}
	}
	if wud || c.FromWUD {
		vars[string(kind.Trigger)] = []string{wudNames}
	}
	return vars
}

// wudNames has what publishes under the name of the program use that of What's Up Docker.
const wudNames = "DOGWATCH_MQTT_NAMES=wud"

// PolicyOf returns the policy that the option of a watcher names.
func PolicyOf(components *component.Manager) func(watcher string) (name, source string) {
	return func(watcher string) (string, string) {
		w, known := components.WatcherNamed(watcher)
		if !known || w.Settings.Policy == "" {
			return "", ""
		}
		return strings.ToLower(w.Settings.Policy), w.FullID() + ".policy"
	}
}

// Labels returns which labels of containers count.
func Labels(c *config.Config) label.Options {
	return label.Options{Foreign: c.Labels.Foreign, Image: c.Labels.Image}
}

// PluginGrants returns what the configuration, and users at installation, granted to
// third-party bundles, by name, whenever it is called.
func PluginGrants(c *config.Config, log hclog.Logger) func() map[string][]string {
	return func() map[string][]string {
		granted := c.Plugins.Grants()
		recorded, err := install.Grants(c.Plugins.Dir)
		if err != nil {
			log.Error("read what is granted to plugins", "error", err)
		}
		for name, capabilities := range recorded {
			granted[name] = append(granted[name], capabilities...)
		}
		for name, capabilities := range granted {
			slices.Sort(capabilities)
			granted[name] = slices.Compact(capabilities)
		}
		return granted
	}
}

// InstalledPlugins returns what was installed, by name, whenever it is called.
func InstalledPlugins(c *config.Config, log hclog.Logger) func() map[string]plugin.Installed {
	return func() map[string]plugin.Installed {
		pins, err := install.Pins(c.Plugins.Dir)
		if err != nil {
			log.Error("read which plugins are installed", "error", err)
		}
		installed := map[string]plugin.Installed{}
		for name, pin := range pins {
			installed[name] = plugin.Installed{SHA256: pin.SHA256, Key: pin.Key, Types: pin.Types}
		}
		return installed
	}
}

// AwaitedPlugins returns the plugins of plugins.install that are not installed so far, by name.
func AwaitedPlugins(c *config.Config) (names []string) {
	pins, err := install.Pins(c.Plugins.Dir)
	for _, declared := range c.Plugins.Declared() {
		if _, installed := pins[declared.Name]; !installed && err == nil {
			names = append(names, declared.Name)
		}
	}
	return names
}

// unprivileged is the customary number of a user, and of a group, without rights.
const unprivileged = 65534

// Isolation returns what third-party bundles may do to the system.
func Isolation(c *config.Config) plugin.Isolation {
	iso := plugin.Isolation{
		Off: !c.Plugins.Isolated, Paths: c.Plugins.Paths(), Limits: limits(c.Plugins.Limits()),
		Private: []string{c.Store.Path, c.StoreFile()},
	}
	if c.File != "" {
		iso.Private = append(iso.Private, c.File)
	}
	uid, gid, set, err := c.Plugins.User()
	if err != nil { // which is reported as a problem of the configuration; until it is mended they are not root's
		uid, gid, set = unprivileged, unprivileged, true
	}
	if set {
		iso.User = &plugin.User{UID: uid, GID: gid}
	}
	return iso
}

// limits returns what third-party bundles may use, by name.
func limits(set map[string]config.Limits) func(string) plugin.Limits {
	return func(name string) plugin.Limits {
		l := plugin.DefaultLimits()
		for _, key := range []string{"", name} {
			s := set[key]
			l.Memory, l.Temp, l.CPU = *cmp.Or(s.Memory, &l.Memory), *cmp.Or(s.Temp, &l.Temp), *cmp.Or(s.CPU, &l.CPU)
			if s.Processes != nil {
				l.Processes = int(*s.Processes)
			}
		}
		return l
	}
}

// Schema returns the options of the types that a host knows now, and of the ways to log in.
func Schema(plugins *plugin.Host) config.SchemaOf {
	return func(k kind.Kind, typ string) (option.Schema, bool) {
		if k == "auth" {
			return auth.Schema(typ)
		}
		_, t, known := plugins.Find(k, typ)
		return slices.Concat(component.HostOptions(k), t.Options), known
	}
}

// ValidateWatcher checks the options of a watcher that the scheduler understands.
func ValidateWatcher(o component.WatcherOptions) []config.Problem {
	if _, err := schedule.ParseCron(o.Cron); err != nil {
		return []config.Problem{{Key: "cron", Message: err.Error(), Level: config.Error}}
	}
	if _, err := policy.ParsePattern(o.Exclude); err != nil && o.Exclude != "" {
		return []config.Problem{{Key: "exclude", Message: err.Error(), Level: config.Error}}
	}
	return nil
}

// templates are those of a trigger.
func templates(o component.TriggerOptions) dispatch.Templates {
	return dispatch.Templates{
		SimpleTitle: o.SimpleTitle, SimpleBody: o.SimpleBody, BatchTitle: o.BatchTitle, SummaryTitle: o.SummaryTitle,
		SummaryBody: o.SummaryBody,
	}
}

// ValidateTrigger checks the options of a trigger that the dispatcher understands.
func ValidateTrigger(o component.TriggerOptions) []config.Problem {
	messages, err := dispatch.ParseMessages(templates(o))
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		return optionProblems(invalid.Fields, config.Error)
	}
	if _, err := window.ParseMoments(o.Summary, nil); err != nil && o.Summary != "" {
		return []config.Problem{{Key: "summary", Message: err.Error(), Level: config.Error}}
	}
	return optionProblems(messages.Lint(), config.Warning)
}

func optionProblems(fields []sdk.FieldError, level config.Level) []config.Problem {
	var problems []config.Problem
	for _, f := range fields {
		problems = append(problems, config.Problem{Key: f.Field, Message: f.Detail, Level: level})
	}
	return problems
}
