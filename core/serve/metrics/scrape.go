package metrics

import (
	"bufio"
	"context"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Webhook is how many pushes a webhook got since the start, by what they were at first.
type Webhook struct {
	Name, State string
	Pushes      int
}

// State is what a scrape reads rather than counts.
type State struct {
	// Containers are those stored now. They are only read, and only during the scrape.
	Containers iter.Seq[*sdk.Container]
	Components []Component
	// Limits are what the hosts of registries allow.
	Limits []Limits
	// Budgets are the requests to hosts of images.
	Budgets []budget.Forecast
	// Concurrency is how many requests hosts of images get at a time, by their names.
	Concurrency map[string]int
	// Webhooks are the pushes to webhooks.
	Webhooks []Webhook
	// Installed are the plugins that were installed.
	Installed []Installed
	// Scans is how many images were scanned for vulnerabilities, by how that ended; empty
	// where there is no scanner.
	Scans map[string]int
	// Pending is how many deliveries wait to be sent.
	Pending int
	// Operations is how many updates and rollbacks are under way.
	Operations int
}

// Limits are what the hosts of a registry allow.
type Limits struct {
	// Registry is the id of the registry: "hub.public".
	Registry string
	Hosts    []registry.Limit
}

// Installed is an installed plugin, and whether there is a newer version of it.
type Installed struct {
	Name     string
	Outdated bool
}

// Component is a configured watcher, registry or trigger.
type Component struct {
	Kind kind.Kind
	Type string
	Name string
	// Failed is true when it cannot be used.
	Failed bool
}

// contentType is Prometheus' text format, version 0.0.4.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Handler serves all metrics in Prometheus' text format. read returns the
// state at the moment of a scrape; its error is answered with status 500.
func (m *Metrics) Handler(read func(context.Context) (State, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !m.opt.Enabled {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte("\n")) // the client may have gone
			return
		}
		state, err := read(r.Context())
		if err == nil {
			err = m.write(w, state)
		}
		if err != nil {
			http.Error(w, "the metrics could not be collected; the log of dogwatch may tell why", http.StatusInternalServerError)
		}
	})
}

// write collects everything and then sends it. Its error means that nothing was sent.
func (m *Metrics) write(w http.ResponseWriter, state State) error {
	now := prometheus.NewRegistry()
	if err := now.Register(scrape{metrics: m, state: state}); err != nil {
		return err
	}
	families, err := prometheus.Gatherers{m.registry, now}.Gather()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	out := bufio.NewWriterSize(w, 32<<10)
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(out, family); err != nil {
			return nil // the client has gone
		}
	}
	if m.opt.WUD {
		writeContainers(out, state.Containers)
	}
	_ = out.Flush() // the client may have gone
	return nil
}

// scrape turns a state into metrics, once.
type scrape struct {
	metrics *Metrics
	state   State
}

// Describe sends nothing: which series there are depends on the state.
func (s scrape) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s scrape) Collect(ch chan<- prometheus.Metric) {
	gauge := func(name, help string, value float64, labels ...string) {
		ch <- sample(name, help, prometheus.GaugeValue, value, labels...)
	}
	gauge("dogwatch_build_info", "The running version; always 1.", 1, "version", s.metrics.version, "goversion",
		runtime.Version())
	gauge("dogwatch_deliveries_pending", "Deliveries to triggers that wait to be sent.", float64(s.state.Pending))
	gauge("dogwatch_operations_running", "Updates and rollbacks of containers that are under way.",
		float64(s.state.Operations))
	for name, b := range s.metrics.bundles() {
		gauge("dogwatch_plugin_up", "Whether the plugin answers calls.", oneIf(b.up), "bundle", name)
		gauge("dogwatch_plugin_asleep", "Whether the plugin has no process until it is needed.", oneIf(b.asleep),
			"bundle", name)
		ch <- sample("dogwatch_plugin_restarts_total", "How often the plugin's process died.", prometheus.CounterValue,
			float64(b.restarts), "bundle", name)
	}
	for _, p := range s.state.Installed {
		gauge("dogwatch_plugin_outdated", "Whether there is a newer version of the installed plugin.",
			oneIf(p.Outdated), "bundle", p.Name)
	}
	for _, c := range s.state.Components {
		gauge("dogwatch_component_failed", "Whether the component cannot be used.", oneIf(c.Failed), "id",
			string(c.Kind)+"."+c.Type+"."+c.Name)
	}
	for _, w := range s.state.Webhooks {
		ch <- sample("dogwatch_webhook_deliveries_total",
			"Pushes to webhooks, by whether they waited for their check or why not.", prometheus.CounterValue,
			float64(w.Pushes), "webhook", w.Name, "state", w.State)
	}
	for result, n := range s.state.Scans {
		ch <- sample("dogwatch_scans_total",
			"Images that were to be scanned for vulnerabilities, by whether they were, failed, or had been lately.",
			prometheus.CounterValue, float64(n), "result", result)
	}
	s.limits(gauge)
	s.budgets(gauge)
	s.containers(gauge)
}

func (s scrape) limits(gauge func(name, help string, value float64, labels ...string)) {
	for _, reported := range s.state.Limits {
		for _, l := range reported.Hosts {
			labels := []string{"registry", reported.Registry, "host", l.Host}
			if l.Limit > 0 {
				gauge("dogwatch_registry_rate_limit",
					"Requests or pulls that the registry's host allows per window, as it said last.", float64(l.Limit), labels...)
				gauge("dogwatch_registry_rate_remaining", "How many of them were left.", float64(l.Remaining), labels...)
			}
			paused := 0.0
			if !l.PausedUntil.IsZero() {
				paused = float64(l.PausedUntil.UnixMilli()) / 1000
			}
			gauge("dogwatch_registry_paused_until_seconds",
				"Until when the registry's host is not asked, in seconds since 1970; 0 when it may be.", paused, labels...)
		}
	}
}

func (s scrape) budgets(gauge func(name, help string, value float64, labels ...string)) {
	for host, n := range s.state.Concurrency {
		gauge("dogwatch_registry_concurrency",
			"How many requests the host gets at a time: more while it answers as fast as before, check.perhost at most.",
			float64(n), "host", host)
	}
	for _, b := range s.state.Budgets {
		gauge("dogwatch_registry_requests_used",
			"Requests to the host in the period of its budget, or in the last hour where it has none.", float64(b.Used),
			"host", b.Host)
		gauge("dogwatch_registry_requests_next", "About how many requests the next checks of all watchers make.",
			float64(b.Next), "host", b.Host)
		if b.Limited() {
			gauge("dogwatch_registry_requests_left",
				"Requests that may be made now, by the budget and by what the host reports.", float64(b.Left()), "host", b.Host)
		}
		if b.Allowance.Requests > 0 {
			gauge("dogwatch_registry_requests_budget",
				"Requests that check.budgets allows in the period of the budget.", float64(b.Allowance.Requests), "host", b.Host)
			gauge("dogwatch_registry_requests_budget_seconds", "How long the period of the budget is.",
				b.Allowance.Per.Seconds(), "host", b.Host)
		}
	}
}

func (s scrape) containers(gauge func(name, help string, value float64, labels ...string)) {
	type group struct{ watcher, change string }
	groups, watched := map[group]int{}, map[string]*tally.Counts{}
	for c := range s.state.Containers {
		groups[group{c.Watcher, changeOf(c)}]++
		if watched[c.Watcher] == nil {
			watched[c.Watcher] = new(tally.Counts)
		}
		watched[c.Watcher].Add(c)
	}
	for name, n := range watched {
		gauge("dogwatch_containers_failed",
			"Watched containers that could not be checked or have a wrong label, whether an update is known or not.",
			float64(n.Failed+n.Stale), "watcher", name)
		gauge("dogwatch_containers_unknown",
			"Watched containers of which nothing could be compared, so that it is not known "+
				"whether there is anything newer.",
			float64(n.Unknown), "watcher", name)
	}
	for g, n := range groups {
		gauge("dogwatch_containers", "Watched containers by what can be updated: "+
			"none, major, minor, patch, prerelease, digest or unknown (a newer tag whose distance has no name); "+
			"unchecked, postponed, failed and uncompared have no known update.",
			float64(n), "watcher", g.watcher, "change", g.change)
	}
	for name, n := range watched {
		for _, count := range []struct {
			state string
			n     int
		}{{sdk.StateOffered, n.Offered}, {sdk.StateHeld, n.Held}, {sdk.StateAutomatic, n.Automatic}} {
			gauge("dogwatch_updates", "Containers with an update, by what became of it: offered, held or automatic.",
				float64(count.n), "watcher", name, "state", count.state)
		}
	}
	for _, c := range s.state.Components {
		if s.metrics.opt.WUD && c.Kind == kind.Watcher {
			total := 0
			if n := watched[c.Name]; n != nil {
				total = n.All
			}
			gauge("wud_watcher_total", "Containers of the watcher.", float64(total), "type", c.Type, "name", c.Name)
		}
	}
}

// changeOf says how much newer the best image is, or else which part of the containers it belongs to.
func changeOf(c *sdk.Container) string {
	switch part := tally.PartOf(c); part {
	case tally.Update:
		if kind := tally.Kind(c); kind != tally.Other {
			return kind
		}
		return sdk.DiffUnknown
	case tally.NotCompared:
		return "uncompared"
	case tally.Current:
		return "none"
	default:
		return string(part)
	}
}

// sample is one value with its labels, given as pairs of name and value.
func sample(name, help string, t prometheus.ValueType, value float64, labels ...string) prometheus.Metric {
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, strings.ToValidUTF8(pair[1], "\uFFFD"))
	}
	return prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), t, value, values...)
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
