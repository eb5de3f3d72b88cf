package component

import (
	"time"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// WatcherOptions are what every watcher has, whatever its type: the host acts on them.
type WatcherOptions struct {
	Cron           string        `option:"cron" default:"0 * * * *" help:"When to check: a cron expression with 5 fields, or 6 with seconds first"`
	Jitter         time.Duration `option:"jitter" default:"60000" help:"Longest random delay of a scheduled check, so that many installations do not ask at the same second"`
	WatchByDefault bool          `option:"watchbydefault" default:"true" help:"Watch containers that have no dogwatch.watch label"`
	WatchEvents    bool          `option:"watchevents" default:"true" help:"Follow the engine's events, so that changes are seen at once"`
	WatchAtStart   bool          `option:"watchatstart" default:"true" help:"Check when Dogwatch starts"`
	Exclude        string        `option:"exclude" help:"Regular expression of the names of containers that are left out, whatever their labels say" example:"^(tmp-|test)"`
	Policy         string        `option:"policy" help:"Name of the policy (policies.NAME) of its containers, unless their label dogwatch.policy names another"`
	Delay          string        `option:"delay" help:"Minimum age of updates of its containers, such as 3d; a policy or a label may set another"`
	WatchDigest    string        `option:"watchdigest" help:"Has no effect" deprecated:"use the label dogwatch.watch.digest"`
}

// EventWatcher among the events of a trigger asks for notifications of watchers
// whose engines cannot be reached.
const EventWatcher = "watcher"

// EventOperation among them asks for notifications of how updates and rollbacks ended.
const EventOperation = "operation"

// EventPlugin among them asks for notifications of newer versions of installed plugins.
const EventPlugin = "plugin"

// ModeBatch is the mode of a trigger that runs once per check; the other one,
// simple, runs once per container.
const ModeBatch = "batch"

// ModeSummary is the mode of a trigger that sends one message at set times, with what was
// done since the last and what is to be decided.
const ModeSummary = "summary"

// The values of the option backlog.
const (
	BacklogSummary = "summary"
	BacklogEach    = "each"
	BacklogNone    = "none"
)

// Parts of the default templates. An update of a digest names the image, since the
// tag stays what it is, with its versions where they are known: nginx:latest (1.27.2 → 1.27.3).
// Twelve digits of a digest are enough to tell two apart.
const (
	// The update of a base names that: New tag of the base image node:22-alpine found for container web.
	ofBase    = `${container.base ? "of the base image " + ` + shortBase + ` + " " : ""}`
	onBase    = `${container.base ? "on the base image " + ` + shortBase + ` + " " : ""}`
	shortBase = `container.base.name.replace(/^library\//, "") + ":" + container.base.tag.value`
	rebuilt   = `${container.updateKind.kind === "digest" && !container.base && container.image.name ? "of " + ` +
		shortImage + ` + " " : ""}`
	rebuiltImage = `${container.updateKind.kind === "digest" && !container.base && container.image.name ? ` +
		shortImage + ` + " " : ""}`
	shortImage  = `container.image.name.replace(/^library\//, "") + ":" + container.image.tag.value + (versions ? " (" + versions + ")" : "")`
	shortLocal  = `${container.updateKind.kind === "digest" ? String(container.updateKind.localValue).replace(/^.*:/, "").slice(0, 12) : container.updateKind.localValue}`
	shortRemote = `${container.updateKind.kind === "digest" ? String(container.updateKind.remoteValue).replace(/^.*:/, "").slice(0, 12) : container.updateKind.remoteValue}`
)

// The templates that are used when a trigger has none of its own.
const (
	defaultTitle = `New ${container.updateKind.kind} ` + ofBase + rebuilt + `found for container ${container.name}`
	defaultBody  = `Container ${container.name} running ` + onBase + rebuiltImage +
		`with ${container.updateKind.kind} ` + shortLocal +
		` can be ${container.base ? "rebuilt with" : "updated to"} ${container.updateKind.kind} ` + shortRemote +
		`${also}${container.result && container.result.link ? "\n" + container.result.link : ""}`
	defaultBatchTitle   = "${containers.length} updates available"
	defaultSummaryTitle = "Dogwatch: ${headline}"
	defaultSummaryBody  = "${text}"
)

// TriggerOptions are what every trigger has, whatever its type: the host acts on them.
type TriggerOptions struct {
	Auto             bool     `option:"auto" default:"true" help:"Run when an update is found; false: only when asked"`
	Threshold        string   `option:"threshold" default:"all" choices:"all,versions,major,minor,patch,major-only,minor-only,digest,major-no-digest,minor-no-digest,patch-no-digest,major-only-no-digest,minor-only-no-digest" help:"Largest step between versions to act on: minor is minor versions and smaller ones, minor-only minor versions alone, and so on; versions: every version, but no rebuilds (new images of the same tag); digest: only those; -no-digest behind a step: without rebuilds"`
	OnDigest         bool     `option:"ondigest" default:"true" help:"Run for rebuilds, too; false is the same as the threshold versions, or one with -no-digest"`
	Mode             string   `option:"mode" default:"simple" choices:"simple,batch,summary" help:"simple: once per container; batch: once per check, with all containers; summary: at set times, with what was done and what is to be decided"`
	Once             bool     `option:"once" default:"true" help:"Run once per update; false: at every check for as long as the update is available"`
	SimpleTitle      string   `option:"simpletitle" help:"Title template of one container"`
	SimpleBody       string   `option:"simplebody" help:"Body template of one container"`
	BatchTitle       string   `option:"batchtitle" help:"Title template of several containers"`
	Summary          string   `option:"summary" default:"daily 08:00" help:"When to send a summary, with mode summary: daily 08:00, Mon 8am, weekdays 18:30 Europe/Paris, or a cron expression"`
	SummaryEmpty     bool     `option:"summaryempty" default:"false" help:"Send a summary even when nothing was done and nothing is to be decided"`
	SummaryTitle     string   `option:"summarytitle" help:"Title template of a summary"`
	SummaryBody      string   `option:"summarybody" help:"Body template of a summary"`
	Backlog          string   `option:"backlog" choices:"summary,each,none" help:"What it hears of the updates that wait when it runs for the first time: summary (one message about all, after the first check), each (as if each had just been found), none; without it, summary where messages go to a person, each elsewhere"`
	Events           []string `option:"events" choices:"watcher,operation,plugin,none" help:"What else to notify of: watcher (its engine cannot be reached, and when it can be again), operation (how an update or a rollback ended), plugin (a newer version of an installed plugin), none; without it, operation and plugin where messages go to a person"`
	IncludeByDefault bool     `option:"includebydefault" default:"true" help:"Run for containers that have no dogwatch.trigger.include label"`
}

// HostOptions returns the options that the host owns for a kind.
func HostOptions(k kind.Kind) option.Schema {
	var s option.Schema
	switch k {
	case kind.Watcher:
		s, _ = option.Of[WatcherOptions]()
	case kind.Trigger:
		s, _ = option.Of[TriggerOptions]()
		for i := range s {
			// A default with placeholders and quotes cannot stand in a struct tag.
			switch s[i].Name {
			case "simpletitle":
				s[i].Default = ptr(defaultTitle)
			case "simplebody":
				s[i].Default = ptr(defaultBody)
			case "batchtitle":
				s[i].Default = ptr(defaultBatchTitle)
			case "summarytitle":
				s[i].Default = ptr(defaultSummaryTitle)
			case "summarybody":
				s[i].Default = ptr(defaultSummaryBody)
			}
		}
	}
	return s
}

func ptr(s string) *string { return &s }
