package metrics

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/tally/tallytest"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// all switches everything on.
var all = Options{Enabled: true, WUD: true}

func each(containers ...sdk.Container) iter.Seq[*sdk.Container] {
	return func(yield func(*sdk.Container) bool) {
		for i := range containers {
			if !yield(&containers[i]) {
				return
			}
		}
	}
}

// container has a value in every field that is a label.
func container(watcher, name string) sdk.Container {
	return sdk.Container{
		ID: "id-" + name, Name: name, DisplayName: "The " + name, DisplayIcon: "mdi:docker", Status: "running",
		Watcher:     watcher,
		IncludeTags: `^\d+$`, ExcludeTags: "beta", TransformTags: "^(.*)$ => $1",
		LinkTemplate: "https://example.org/${major}",
		Link:         "https://example.org/1", TriggerInclude: "smtp.main", TriggerExclude: "ntfy.main",
		Image: sdk.Image{
			ID:       "sha256:i1",
			Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name:     "library/" + name, Tag: sdk.Tag{Value: "1.25.0", Semver: true},
			Digest:       sdk.Digest{Watch: true, Repo: "sha256:d1", Value: "sha256:d2"},
			Architecture: "arm64", OS: "linux", Variant: "v8",
			Created: sdk.TimeOf(time.Date(2024, 1, 2, 3, 4, 5, 678e6, time.UTC)),
		},
		Labels: map[string]string{"com.docker.compose.project": "p"},
		Result: &sdk.Result{
			Tag: "1.26.0", Digest: "sha256:d3", Created: sdk.TimeOf(time.Date(2024, 2, 2, 3, 4, 5, 0, time.UTC)),
			Link: "https://example.org/1.26",
		},
		Error:           &sdk.ContainerError{Message: "registry says \"no\"\nin C:\\temp"},
		Check:           sdk.CheckState{State: sdk.CheckOK},
		UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0", SemverDiff: sdk.DiffMinor,
		},
	}
}

// bare has nothing that a container may lack.
func bare(watcher, name string) sdk.Container {
	return sdk.Container{
		ID: "id-" + name, Name: name, Watcher: watcher, Status: "exited", Check: sdk.CheckState{State: sdk.CheckNever},
	}
}

// fleet is a few containers of two watchers.
func fleet() []sdk.Container {
	digest := container("local", "redis")
	digest.UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:d2", RemoteValue: "sha256:d3"}
	current := container("local", "caddy")
	current.UpdateAvailable, current.UpdateKind = false, sdk.UpdateKind{Kind: sdk.KindUnknown}
	failed := current
	failed.ID, failed.Name, failed.Watcher, failed.Check.State = "id-failed", "failed", "remote", sdk.CheckFailed
	major := container("remote", "postgres")
	major.UpdateKind.SemverDiff = sdk.DiffMajor
	return []sdk.Container{container("local", "nginx"), digest, current, bare("local", "new"), failed, major}
}

func components() []Component {
	return []Component{
		{Kind: kind.Watcher, Type: "docker", Name: "local"},
		{Kind: kind.Watcher, Type: "docker", Name: "remote"},
		{Kind: kind.Watcher, Type: "docker", Name: "idle", Failed: true},
		{Kind: kind.Registry, Type: "hub", Name: "public"},
		{Kind: kind.Trigger, Type: "smtp", Name: "main", Failed: true},
	}
}

// limits are what hosts said to registries: one of all, one of its pause only, and one of nothing any more.
func limits() []Limits {
	until := sdk.TimeOf(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC))
	return []Limits{
		{Registry: "hub.public", Hosts: []registry.Limit{
			{Host: "auth.docker.io", PausedUntil: until},
			{Host: "registry-1.docker.io", Limit: 100, Remaining: 76, Window: 6 * time.Hour},
		}},
		{Registry: "hub.private", Hosts: []registry.Limit{{Host: "registry-1.docker.io", Limit: 200, PausedUntil: until}}},
		{Registry: "ghcr.public"},
	}
}

// budgets are of a host that has one, and of one that has none.
func budgets() []budget.Forecast {
	return []budget.Forecast{
		{
			Use: budget.Use{
				Host: "docker.io", Allowance: budget.Allowance{Requests: 100, Per: 6 * time.Hour}, Used: 92,
			}, Next: 12,
		},
		{Use: budget.Use{Host: "ghcr.io", Used: 7}, Next: 7},
	}
}

// scraped returns what a scrape of m answers.
func scraped(t testing.TB, m *Metrics, state State) string {
	t.Helper()
	if state.Containers == nil {
		state.Containers = each()
	}
	w := httptest.NewRecorder()
	m.Handler(func(context.Context) (State, error) {
		return state, nil
	}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func parse(t testing.TB, text string) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return families
}

// own keeps the lines of metrics that do not depend on the machine.
func own(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if strings.HasPrefix(name, "dogwatch_") || strings.HasPrefix(name, "wud_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func eventful() *Metrics {
	m := New("1.2.3", all)
	m.Call("registry.hub.public", "Tags", 200*time.Millisecond, nil)
	m.Call("registry.hub.public", "Resolve", 400*time.Millisecond, sdk.RateLimited(time.Minute, errors.New("slow down")))
	m.Call("registry.ghcr.public", "Tags", time.Second, fmt.Errorf("ghcr: %w", sdk.ErrUnauthorized))
	m.Call("registry.hub.public", "Limits", time.Second, nil) // is no question to a registry
	m.Call("trigger.smtp.main", "Run", time.Second, nil)
	m.Plugin("registry", true, true, 2)
	m.Plugin("trigger", false, false, 0)
	for _, e := range []event.Event{
		{Type: event.CheckStarted, Payload: event.Payload{Check: &event.Check{Watcher: "local"}}},
		{Type: event.CheckFinished, Payload: event.Payload{Check: &event.Check{Watcher: "local", Took: "1.5s"}}},
		{Type: event.CheckFinished, Payload: event.Payload{Check: &event.Check{Watcher: "local", Took: "2.5s", Failed: 1}}},
		{Type: event.CheckFailed, Payload: event.Payload{Check: &event.Check{Watcher: "remote", Error: "unreachable"}}},
		{Type: event.TriggerSent, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.main"}}},
		{Type: event.TriggerSent, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.main"}}},
		{Type: event.TriggerFailed, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.main"}}},
		{Type: event.TriggerSkipped, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "ntfy.main"}}},
		{Type: event.OperationStep, Payload: event.Payload{Operation: &event.Operation{Kind: "update", Ended: true}}},
		{
			Type:    event.OperationSucceeded,
			Payload: event.Payload{Operation: &event.Operation{Kind: "update", Downtime: "1.2s"}},
		},
		// no update
		{Type: event.OperationSucceeded,
			Payload: event.Payload{Operation: &event.Operation{Kind: "update", DryRun: true}}},
		{
			Type:    event.OperationRolledBack,
			Payload: event.Payload{Operation: &event.Operation{Kind: "update", Downtime: "40s"}},
		},
		{Type: event.OperationFailed, Payload: event.Payload{Operation: &event.Operation{Kind: "rollback"}}},
		{Type: event.OperationCancelled, Payload: event.Payload{Operation: &event.Operation{Kind: "update"}}},
		{Type: event.UpdateFound, Payload: event.Payload{Container: new(sdk.Container)}},
	} {
		m.Event(e)
	}
	return m
}

func TestExposition(t *testing.T) {
	text := own(scraped(t, eventful(), State{
		Containers: each(fleet()...), Components: components(), Limits: limits(), Budgets: budgets(),
		Webhooks:  []Webhook{{"ghcr", "waiting", 7}, {"ghcr", "refused", 1}},
		Installed: []Installed{{"lamp", true}, {"mail", false}},
		Scans:     map[string]int{"done": 4, "failed": 1, "reused": 2}, Pending: 3, Operations: 1,
		Concurrency: map[string]int{"docker.io": 32, "ghcr.io": 4},
	}))
	text = strings.ReplaceAll(text, goVersion(t, text), "GO")
	parse(t, text)
	const path = "testdata/exposition.txt"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the exposition differs from %s (run with -update to accept):\n%s", path, text)
	}
}

// TestContainersAddUp: over random fleets, the series of a watcher are as many as its containers.
func TestContainersAddUp(t *testing.T) {
	m := New("1.2.3", all)
	for seed := range uint64(tallytest.Fleets) {
		fleet := tallytest.Fleet(seed)
		counts := tally.Counts{}
		for i := range fleet {
			counts.Add(&fleet[i])
		}
		sums := map[string]int{}
		metrics := make(chan prometheus.Metric, 1000)
		scrape{metrics: m, state: State{Containers: each(fleet...)}}.Collect(metrics)
		close(metrics)
		for metric := range metrics {
			var out dto.Metric
			if err := metric.Write(&out); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"dogwatch_containers", "dogwatch_containers_failed", "dogwatch_updates"} {
				if strings.Contains(metric.Desc().String(), `"`+name+`"`) {
					sums[name] += int(out.GetGauge().GetValue())
				}
			}
		}
		want := map[string]int{"dogwatch_containers": len(fleet), "dogwatch_containers_failed": counts.Failed +
			counts.Stale, "dogwatch_updates": counts.Updates}
		for name, n := range want {
			if sums[name] != n {
				t.Errorf("fleet %d of %d: %s adds up to %d, want %d", seed, len(fleet), name, sums[name], n)
			}
		}
	}
}

func goVersion(t *testing.T, text string) string {
	t.Helper()
	for _, metric := range parse(t, text)["dogwatch_build_info"].GetMetric() {
		return labels(metric)["goversion"]
	}
	t.Fatal("no dogwatch_build_info")
	return ""
}

func labels(m *dto.Metric) map[string]string {
	set := map[string]string{}
	for _, pair := range m.GetLabel() {
		set[pair.GetName()] = pair.GetValue()
	}
	return set
}

func TestExpositionHasProcessMetrics(t *testing.T) {
	families := parse(t, scraped(t, New("1", all), State{}))
	names := []string{"go_goroutines", "go_memstats_heap_alloc_bytes"}
	if runtime.GOOS == "linux" {
		names = append(names, "process_start_time_seconds", "process_resident_memory_bytes", "process_open_fds")
	}
	for _, name := range names {
		if families[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestWUDLabelsAreFlattenedFields(t *testing.T) {
	for _, c := range append(fleet(), bare("w", "n"), sdk.Container{}) {
		flat := map[string]string{}
		for _, f := range c.Flatten() {
			flat[f.Key] = fmt.Sprint(f.Value)
		}
		for _, l := range containerLabels {
			got, want := l.value(&c), flat[l.name]
			// Fields that are false or unknown in a part that is absent as a whole.
			if want == "" && (got == "false" || got == sdk.KindUnknown) {
				continue
			}
			if got != want {
				t.Errorf("%s of %s is %q, flattened it is %q", l.name, c.Name, got, want)
			}
		}
	}
	// Every flattened field is a label, except what What's Up Docker does not have.
	full := container("w", "n")
	for _, f := range full.Flatten() {
		known := slices.ContainsFunc(containerLabels, func(l label) bool { return l.name == f.Key })
		extra := strings.HasPrefix(f.Key, "labels_") || strings.HasPrefix(f.Key, "check_") || f.Key == "image_registry_host"
		if known == extra {
			t.Errorf("flattened field %s: label %t", f.Key, known)
		}
	}
	if !slices.IsSortedFunc(containerLabels, func(a, b label) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the labels are not in order")
	}
}

// TestWUDLabelOfUnknownIsUndefined: dashboards map that word to a dash.
func TestWUDLabelOfUnknownIsUndefined(t *testing.T) {
	family := parse(t, scraped(t, New("1", all), State{Containers: each(bare("local", "new"))}))["wud_containers"]
	got := labels(family.GetMetric()[0])
	for _, name := range []string{"include_tags", "exclude_tags", "transform_tags", "link_template", "trigger_include",
		"trigger_exclude",
		"image_variant", "image_digest_repo", "update_kind_local_value", "update_kind_remote_value",
		"update_kind_semver_diff"} {
		if got[name] != "undefined" {
			t.Errorf("%s is %q, want undefined", name, got[name])
		}
	}
	for _, name := range []string{"link", "result_tag", "result_link", "result_digest", "error_message",
		"image_created", "labels"} {
		if v, there := got[name]; there {
			t.Errorf("%s is there, as %q", name, v)
		}
	}
	if got["update_available"] != "false" || got["update_kind_kind"] != "unknown" {
		t.Errorf("update_available is %q, update_kind_kind %q", got["update_available"], got["update_kind_kind"])
	}
}

func TestDisabledMetricsCollectNothing(t *testing.T) {
	m := New("1", Options{WUD: true})
	m.Call("registry.hub.public", "Tags", time.Second, nil)
	m.Plugin("registry", true, false, 0)
	m.Event(event.Event{Type: event.CheckFinished, Payload: event.Payload{Check: &event.Check{Watcher: "local"}}})
	w := httptest.NewRecorder()
	m.Handler(func(context.Context) (State, error) {
		t.Error("the state was read")
		return State{}, nil
	}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK || w.Body.String() != "\n" {
		t.Errorf("status %d, body %q; want 200 and a newline", w.Code, w.Body)
	}
	checkContentType(t, w.Header())
}

func TestMetricsWithoutWUDNames(t *testing.T) {
	m := New("1", Options{Enabled: true})
	m.Call("registry.hub.public", "Tags", time.Second, nil)
	m.Event(event.Event{Type: event.TriggerSent, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.main"}}})
	text := scraped(t, m, State{Containers: each(fleet()...), Components: components()})
	if strings.Contains(text, "wud_") {
		t.Errorf("there are metrics of What's Up Docker:\n%s", text)
	}
	if !strings.Contains(text, `dogwatch_containers{change="minor",watcher="local"} 1`) {
		t.Errorf("our own are missing:\n%s", text)
	}
}

// TestMetricsCountWhatIsUnknown: a container of which nothing could be compared is not one without an update.
func TestMetricsCountWhatIsUnknown(t *testing.T) {
	c := container("local", "shop")
	c.UpdateAvailable, c.UpdateKind = false, sdk.UpdateKind{Kind: sdk.KindUnknown}
	c.Check.State, c.Check.Reason, c.Error = sdk.CheckUnknown, "built here", nil
	text := scraped(t, New("1", Options{Enabled: true}), State{Containers: each(c)})
	for _, want := range []string{
		`dogwatch_containers{change="uncompared",watcher="local"} 1`, `dogwatch_containers_unknown{watcher="local"} 1`,
		`dogwatch_containers_failed{watcher="local"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, `change="none"`) {
		t.Errorf("it counts as up to date:\n%s", text)
	}
}

func TestScrapeFailsWhenStateIsUnreadable(t *testing.T) {
	w := httptest.NewRecorder()
	New("1", all).Handler(func(context.Context) (State, error) { return State{}, errors.New("secret path /store") }).
		ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "/store") {
		t.Errorf("status %d, body %q", w.Code, w.Body)
	}
}

func checkContentType(t *testing.T, h http.Header) {
	t.Helper()
	if got := h.Get("Content-Type"); !strings.HasPrefix(got, "text/plain;") || !strings.HasSuffix(got, "charset=utf-8") {
		t.Errorf("Content-Type is %q", got)
	}
	if f := expfmt.ResponseFormat(h); f.FormatType() != expfmt.TypeTextPlain {
		t.Errorf("Prometheus takes %q for %q", h.Get("Content-Type"), f)
	}
}

func TestCallResultOfError(t *testing.T) {
	for want, err := range map[string]error{
		"ok":           nil,
		"canceled":     fmt.Errorf("hub: %w", context.Canceled),
		"rate_limited": fmt.Errorf("hub: %w", sdk.RateLimited(0, errors.New("429"))),
		"unauthorized": fmt.Errorf("hub: %w", sdk.ErrUnauthorized),
		"not_found":    sdk.WithKind(sdk.ErrNotFound, errors.New("no such repository")),
		"unavailable":  context.DeadlineExceeded,
		"error":        errors.New("odd"),
	} {
		if got := resultOf(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

// TestMetricsAreConcurrent is for the race detector.
func TestMetricsAreConcurrent(t *testing.T) {
	m := New("1", all)
	handler := m.Handler(func(context.Context) (State, error) { return State{Containers: each(fleet()...)}, nil })
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				m.Call("registry.hub.public", "Tags", time.Millisecond, nil)
				m.Plugin("registry", true, false, 1)
				m.Event(event.Event{
					Type: event.TriggerSent, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.main"}},
				})
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
			}
		})
	}
	wait.Wait()
	if text := scraped(t, m, State{}); !strings.Contains(text,
		`dogwatch_deliveries_total{result="sent",trigger="smtp.main"} 80`) {
		t.Errorf("counts got lost:\n%s", own(text))
	}
}

// FuzzLabelValues proves that no text of a container breaks the exposition.
func FuzzLabelValues(f *testing.F) {
	for _, s := range []string{"", "plain", "\"", "\\", "\n", "a\r\nb", "\xff\xfe", "} 1\nwud_evil{", "ünï ✓", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := bare("local", s)
		c.Status, c.Error = s, &sdk.ContainerError{Message: s}
		families := parse(t, scraped(t, New(s, all), State{Containers: each(c)}))
		got := families["wud_containers"].GetMetric()
		if len(got) != 1 {
			t.Fatalf("%d series, want 1", len(got))
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); labels(got[0])["name"] != want {
			t.Errorf("the name came out as %q, want %q", labels(got[0])["name"], want)
		}
	})
}
