// Package metrics counts what Dogwatch does and serves the counts to
// Prometheus. No other package imports the Prometheus library.
//
// Calls of plugins and events are counted when they happen (Call, Plugin, Event).
// State (containers, components, pending deliveries) is read at each scrape, so
// nothing is kept per container, and a removed one leaves no series behind.
package metrics

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Options say what is collected.
type Options struct {
	// Enabled is false when nothing is collected; the handler then serves an empty page.
	Enabled bool
	// WUD adds the metrics under the names of What's Up Docker, for existing dashboards.
	WUD bool
}

// Metrics are the counters of one process. Its methods may be called
// concurrently and never block for long.
type Metrics struct {
	opt      Options
	version  string
	registry *prometheus.Registry

	checks         *prometheus.CounterVec
	checkSeconds   *prometheus.HistogramVec
	requests       *prometheus.CounterVec
	requestSeconds *prometheus.HistogramVec
	deliveries     *prometheus.CounterVec
	operations     *prometheus.CounterVec
	downtime       prometheus.Histogram
	wud            wud

	mu      sync.Mutex
	plugins map[string]bundle
}

// bundle is what is known of a plugin.
type bundle struct {
	up       bool
	asleep   bool
	restarts int
}

// New returns Metrics for a process of the given version.
func New(version string, opt Options) *Metrics {
	m := &Metrics{
		opt: opt, version: version, registry: prometheus.NewRegistry(), plugins: map[string]bundle{},
		checks: counter("dogwatch_checks_total",
			"Checks that ended: ok, partial (some containers could not be checked or have a wrong label) or failed.",
			"watcher", "result"),
		checkSeconds: histogram("dogwatch_check_duration_seconds",
			"How long the checks took that reached their engine.",
			[]float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}, "watcher"),
		requests: counter("dogwatch_registry_requests_total", "Questions to registries, by how they ended.",
			"registry", "result"),
		requestSeconds: histogram("dogwatch_registry_request_duration_seconds",
			"How long questions to registries took.", []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}, "registry"),
		deliveries: counter("dogwatch_deliveries_total", "Runs of triggers that ended: sent, failed or skipped.",
			"trigger", "result"),
		operations: counter("dogwatch_operations_total",
			"Updates and rollbacks of containers that ended: succeeded, rolledback, failed or cancelled.", "kind", "result"),
		downtime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "dogwatch_operation_downtime_seconds",
			Help:    "How long containers did not run while they were updated or rolled back.",
			Buckets: []float64{.25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}),
		wud: newWUD(),
	}
	if !opt.Enabled {
		return m
	}
	m.registry.MustRegister(m.checks, m.checkSeconds, m.requests, m.requestSeconds, m.deliveries, m.operations, m.downtime,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if opt.WUD {
		m.registry.MustRegister(m.wud.responses, m.wud.triggers)
	}
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Call counts a call of a plugin's instance, such as "registry.hub.public", that
// ended with err. Only questions to registries have metrics; what their limits
// are is no question to them.
func (m *Metrics) Call(instance, method string, took time.Duration, err error) {
	id, ofRegistry := strings.CutPrefix(instance, string(kind.Registry)+".")
	if !m.opt.Enabled || !ofRegistry || method == "Limits" {
		return
	}
	m.requests.WithLabelValues(id, resultOf(err)).Inc()
	m.requestSeconds.WithLabelValues(id).Observe(took.Seconds())
	m.wud.responded(id, took)
}

// resultOf names how a question to a registry ended.
func resultOf(err error) string {
	var limited *sdk.RateLimitedError
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &limited):
		return "rate_limited"
	case errors.Is(err, sdk.ErrUnauthorized):
		return "unauthorized"
	case errors.Is(err, sdk.ErrNotFound):
		return "not_found"
	case sdk.Retryable(err):
		return "unavailable"
	}
	return "error"
}

// Plugin notes the state of a plugin, which answers calls while it is asleep, too, and how often it
// was restarted so far.
func (m *Metrics) Plugin(name string, up, asleep bool, restarts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plugins[name] = bundle{up: up, asleep: asleep, restarts: restarts}
}

func (m *Metrics) bundles() map[string]bundle {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.plugins)
}

// Event counts a stored event. Each one must be passed in once.
func (m *Metrics) Event(e event.Event) {
	switch {
	case !m.opt.Enabled:
	case e.Check != nil:
		m.check(e.Type, *e.Check)
	case e.Delivery != nil:
		m.delivery(e.Type, e.Delivery.Trigger)
	case e.Operation != nil:
		m.operation(e.Type, *e.Operation)
	}
}

func (m *Metrics) check(t event.Type, c event.Check) {
	result := "ok"
	switch {
	case t == event.CheckFailed:
		result = "failed"
	case t != event.CheckFinished:
		return
	case c.Failed > 0:
		result = "partial"
	}
	m.checks.WithLabelValues(c.Watcher, result).Inc()
	if took, err := time.ParseDuration(c.Took); err == nil {
		m.checkSeconds.WithLabelValues(c.Watcher).Observe(took.Seconds())
	}
}

func (m *Metrics) operation(t event.Type, o event.Operation) {
	results := map[event.Type]string{
		event.OperationSucceeded: "succeeded", event.OperationRolledBack: "rolledback", event.OperationFailed: "failed",
		event.OperationCancelled: "cancelled",
	}
	result, ended := results[t]
	if !ended || o.DryRun {
		return
	}
	m.operations.WithLabelValues(o.Kind, result).Inc()
	if down, err := time.ParseDuration(o.Downtime); err == nil {
		m.downtime.Observe(down.Seconds())
	}
}

func (m *Metrics) delivery(t event.Type, trigger string) {
	results := map[event.Type]string{
		event.TriggerSent: "sent", event.TriggerFailed: "failed", event.TriggerSkipped: "skipped",
	}
	result, ended := results[t]
	if !ended {
		return
	}
	m.deliveries.WithLabelValues(trigger, result).Inc()
	m.wud.ran(trigger, t)
}
