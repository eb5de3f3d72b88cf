package metrics

import (
	"bufio"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// wud are the counters that What's Up Docker has under its own names.
type wud struct {
	responses *prometheus.SummaryVec
	triggers  *prometheus.CounterVec
}

// sinceStart is longer than a process runs: its quantiles cover all of its life.
const sinceStart = 10 * 365 * 24 * time.Hour

func newWUD() wud {
	return wud{
		responses: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "wud_registry_response", Help: "Seconds that questions to the registry took.",
			Objectives: map[float64]float64{.01: .001, .05: .005, .5: .05, .9: .01, .95: .005, .99: .001, .999: .0001},
			MaxAge:     sinceStart, AgeBuckets: 1,
		}, []string{"type", "name"}),
		triggers: counter("wud_trigger_count", "Runs of the trigger that ended: success, error or skipped.", "type",
			"name", "status"),
	}
}

func (w wud) responded(registry string, took time.Duration) {
	typ, name, _ := strings.Cut(registry, ".")
	w.responses.WithLabelValues(typ, name).Observe(took.Seconds())
}

func (w wud) ran(trigger string, t event.Type) {
	typ, name, _ := strings.Cut(trigger, ".")
	statuses := map[event.Type]string{
		event.TriggerSent: "success", event.TriggerFailed: "error", event.TriggerSkipped: "skipped",
	}
	w.triggers.WithLabelValues(typ, name, statuses[t]).Inc()
}

// label is a label of wud_containers: the flattened name of a field and how to read it.
type label struct {
	name  string
	value func(*sdk.Container) string
	// undefined makes a missing value the word "undefined", which dashboards
	// know for these fields; without it the label is left out.
	undefined bool
}

// containerLabels are all labels of wud_containers, in the order of their
// names. They are the flattened fields of a container less its Docker labels,
// read directly: flattening a thousand containers takes longer than a scrape may.
var containerLabels = []label{
	{name: "display_icon", value: func(c *sdk.Container) string { return c.DisplayIcon }},
	{name: "display_name", value: func(c *sdk.Container) string { return c.DisplayName }},
	{name: "error_message", value: func(c *sdk.Container) string {
		if c.Error == nil {
			return ""
		}
		return c.Error.Message
	}},
	{name: "exclude_tags", value: func(c *sdk.Container) string { return c.ExcludeTags }, undefined: true},
	{name: "id", value: func(c *sdk.Container) string { return c.ID }},
	{name: "image_architecture", value: func(c *sdk.Container) string { return c.Image.Architecture }},
	{name: "image_created", value: func(c *sdk.Container) string { return c.Image.Created.String() }},
	{name: "image_digest_repo", value: func(c *sdk.Container) string { return c.Image.Digest.Repo }, undefined: true},
	{name: "image_digest_value", value: func(c *sdk.Container) string { return c.Image.Digest.Value }},
	{name: "image_digest_watch", value: func(c *sdk.Container) string { return strconv.FormatBool(c.Image.Digest.Watch) }},
	{name: "image_id", value: func(c *sdk.Container) string { return c.Image.ID }},
	{name: "image_name", value: func(c *sdk.Container) string { return c.Image.Name }},
	{name: "image_os", value: func(c *sdk.Container) string { return c.Image.OS }},
	{name: "image_registry_name", value: func(c *sdk.Container) string { return c.Image.Registry.Name }},
	{name: "image_registry_url", value: func(c *sdk.Container) string { return c.Image.Registry.URL }},
	{name: "image_tag_semver", value: func(c *sdk.Container) string { return strconv.FormatBool(c.Image.Tag.Semver) }},
	{name: "image_tag_value", value: func(c *sdk.Container) string { return c.Image.Tag.Value }},
	{name: "image_variant", value: func(c *sdk.Container) string { return c.Image.Variant }, undefined: true},
	{name: "include_tags", value: func(c *sdk.Container) string { return c.IncludeTags }, undefined: true},
	{name: "link", value: func(c *sdk.Container) string { return c.Link }},
	{name: "link_template", value: func(c *sdk.Container) string { return c.LinkTemplate }, undefined: true},
	{name: "name", value: func(c *sdk.Container) string { return c.Name }},
	{name: "result_created", value: func(c *sdk.Container) string { return result(c).Created.String() }},
	{name: "result_digest", value: func(c *sdk.Container) string { return result(c).Digest }},
	{name: "result_link", value: func(c *sdk.Container) string { return result(c).Link }},
	{name: "result_tag", value: func(c *sdk.Container) string { return result(c).Tag }},
	{name: "status", value: func(c *sdk.Container) string { return c.Status }},
	{name: "transform_tags", value: func(c *sdk.Container) string { return c.TransformTags }, undefined: true},
	{name: "trigger_exclude", value: func(c *sdk.Container) string { return c.TriggerExclude }, undefined: true},
	{name: "trigger_include", value: func(c *sdk.Container) string { return c.TriggerInclude }, undefined: true},
	{name: "update_available", value: func(c *sdk.Container) string { return strconv.FormatBool(c.UpdateAvailable) }},
	{name: "update_kind_kind", value: func(c *sdk.Container) string {
		if c.UpdateKind.Kind == "" {
			return sdk.KindUnknown
		}
		return c.UpdateKind.Kind
	}},
	{
		name: "update_kind_local_value", value: func(c *sdk.Container) string { return c.UpdateKind.LocalValue },
		undefined: true,
	},
	{
		name: "update_kind_remote_value", value: func(c *sdk.Container) string { return c.UpdateKind.RemoteValue },
		undefined: true,
	},
	{
		name: "update_kind_semver_diff", value: func(c *sdk.Container) string { return c.UpdateKind.SemverDiff },
		undefined: true,
	},
	{name: "watcher", value: func(c *sdk.Container) string { return c.Watcher }},
}

func result(c *sdk.Container) sdk.Result {
	if c.Result == nil {
		return sdk.Result{}
	}
	return *c.Result
}

// writeContainers writes wud_containers, a series of value 1 for each
// container. It writes the text format itself, since passing a thousand series of
// 36 labels through a registry costs ten times as much. Errors stay in the writer.
func writeContainers(w *bufio.Writer, containers iter.Seq[*sdk.Container]) {
	const name = "wud_containers"
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	none := true
	for c := range containers {
		if none {
			_, _ = w.WriteString("# HELP " + name + " The watched containers, each a series of value 1.\n# TYPE " +
				name + " gauge\n")
			none = false
		}
		_, _ = w.WriteString(name)
		next := byte('{')
		for _, l := range containerLabels {
			value := l.value(c)
			if value == "" && l.undefined {
				value = "undefined"
			}
			if value == "" {
				continue
			}
			_ = w.WriteByte(next)
			next = ','
			_, _ = w.WriteString(l.name)
			_, _ = w.WriteString(`="`)
			_, _ = escape.WriteString(w, strings.ToValidUTF8(value, "\uFFFD"))
			_ = w.WriteByte('"')
		}
		_, _ = w.WriteString("} 1\n")
	}
}
