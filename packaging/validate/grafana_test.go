package validate

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

var promQL = parser.NewParser(parser.Options{})

// served returns what /metrics has, as a test of the server holds it to: names, and of each the labels and their
// values.
func served(t *testing.T) map[string]map[string][]string {
	t.Helper()
	file, err := os.Open("../../core/serve/metrics/testdata/exposition.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]map[string][]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		series, _, is := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(series, "#") {
			continue
		}
		if is {
			series += "}"
		} else {
			series, _, _ = strings.Cut(series, " ")
		}
		set, err := promQL.ParseMetric(series)
		if err != nil {
			t.Fatalf("%s: %v", series, err)
		}
		name := set.Get(model.MetricNameLabel)
		if all[name] == nil {
			all[name] = map[string][]string{}
		}
		set.Range(func(l labels.Label) { all[name][l.Name] = append(all[name][l.Name], l.Value) })
	}
	return all
}

// check reports what a query asks for that is not served: metrics, labels to select, group or show by, and values.
func check(t *testing.T, where, query string, all map[string]map[string][]string, shown ...string) {
	t.Helper()
	parsed, err := promQL.ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	has := map[string][]string{}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		if all[selector.Name] == nil {
			t.Errorf("%s: there is no metric %s", where, selector.Name)
		}
		maps.Copy(has, all[selector.Name])
		for _, m := range selector.LabelMatchers {
			values, is := all[selector.Name][m.Name]
			if !is {
				t.Errorf("%s: %s has no label %s", where, selector.Name, m.Name)
			}
			for value := range strings.SplitSeq(m.Value, "|") {
				if value != ".*" && is && !slices.Contains(values, value) {
					t.Errorf("%s: %s has no %s=%q, but %q", where, selector.Name, m.Name, value, values)
				}
			}
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregation, is := node.(*parser.AggregateExpr); is {
			shown = append(shown, aggregation.Grouping...)
			for _, label := range shown {
				if label != "le" && !slices.Contains(aggregation.Grouping, label) {
					t.Errorf("%s: %s is summed away", where, label)
				}
			}
		}
		return nil
	})
	for _, label := range shown {
		if _, is := has[label]; !is {
			t.Errorf("%s: no metric of it has the label %s", where, label)
		}
	}
}

// TestDashboardAsksForWhatIsServed: each query of the dashboard is one, of metrics, labels and values that exist.
func TestDashboardAsksForWhatIsServed(t *testing.T) {
	text, err := os.ReadFile("../grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	type grid struct{ X, Y, W, H int }
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos grid
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	all := served(t)
	legend := regexp.MustCompile(`{{(\w+)}}`)
	ids, queries := map[int]bool{}, 0
	for i, panel := range dashboard.Panels {
		if ids[panel.ID] {
			t.Errorf("two panels are number %d", panel.ID)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			queries++
			var shown []string
			for _, m := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				shown = append(shown, m[1])
			}
			check(t, panel.Title, strings.ReplaceAll(target.Expr, "$watcher", ".*"), all, shown...)
		}
		for _, other := range dashboard.Panels[:i] {
			a, b := panel.GridPos, other.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%q lies over %q", panel.Title, other.Title)
			}
		}
	}
	for _, variable := range dashboard.Templating.List {
		if m := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(variable.Definition); m != nil {
			queries++
			check(t, variable.Name, m[1], all, m[2])
		}
	}
	if queries < 20 {
		t.Errorf("only %d queries", queries)
	}
}

// alerts returns the rules of the file, which Prometheus accepts.
func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	groups, errs := rulefmt.ParseFile("../grafana/alerts.yaml", false, model.UTF8Validation, promQL, log)
	if errs != nil || len(groups.Groups) != 1 {
		t.Fatal(errs)
	}
	return groups.Groups[0].Rules
}

// TestAlertsAskForWhatIsServed: each rule is one that Prometheus accepts, of metrics, labels and values that exist.
func TestAlertsAskForWhatIsServed(t *testing.T) {
	all := served(t)
	used := regexp.MustCompile(`\$labels\.(\w+)`)
	for _, rule := range alerts(t) {
		var shown []string
		for _, m := range used.FindAllStringSubmatch(rule.Annotations["summary"], -1) {
			shown = append(shown, m[1])
		}
		check(t, rule.Alert, rule.Expr, all, shown...)
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
			t.Errorf("%s has no severity or no summary", rule.Alert)
		}
	}
}

// TestAlertsFire: what each rule is for makes it fire, and an hour, or a day, in which nothing happens does not.
func TestAlertsFire(t *testing.T) {
	quiet := `load 10m
  dogwatch_build_info{version="1"} 1x300
  dogwatch_checks_total{watcher="local",result="ok"} 1+1x300
  dogwatch_checks_total{watcher="local",result="failed"} 3x300
  dogwatch_containers_failed{watcher="local"} 0x300
  dogwatch_containers{watcher="local",change="none"} 4x300
  dogwatch_updates{watcher="local",state="offered"} 0x300
  dogwatch_operations_total{kind="update",result="rolledback"} 1x300
  dogwatch_deliveries_pending 0x300
  dogwatch_deliveries_total{trigger="ntfy.me",result="failed"} 2x300
  dogwatch_component_failed{id="registry.hub.public"} 0x300
  dogwatch_plugin_up{bundle="registry"} 1x300
  dogwatch_registry_requests_total{registry="hub.public",result="unauthorized"} 1x300
  dogwatch_registry_paused_until_seconds{registry="hub.public",host="docker.io"} 0x300
`
	// What happens at 2,500 minutes, of 3,000.
	loud := map[string]string{
		"DogwatchIsDown":                `other 1x300`,
		"DogwatchDoesNotCheck":          `dogwatch_checks_total{watcher="local",result="ok"} 7x300`,
		"DogwatchChecksFail":            `dogwatch_checks_total{watcher="local",result="failed"} 3x270 4x30`,
		"DogwatchCannotCheckContainers": `dogwatch_containers_failed{watcher="local"} 2x300`,
		"DogwatchMajorUpdate":           `dogwatch_containers{watcher="local",change="major"} 1x300`,
		"DogwatchUpdatesWait":           `dogwatch_updates{watcher="local",state="offered"} 1x300`,
		"DogwatchUpdateFailed":          `dogwatch_operations_total{kind="update",result="failed"} _x297 1x2`,
		"DogwatchMessagesWait":          `dogwatch_deliveries_pending 1x300`,
		"DogwatchMessagesFail":          `dogwatch_deliveries_total{trigger="ntfy.me",result="failed"} _x297 1x2`,
		"DogwatchComponentFailed":       `dogwatch_component_failed{id="registry.hub.public"} 1x300`,
		"DogwatchPluginIsDown":          `dogwatch_plugin_up{bundle="registry"} 0x300`,
		"DogwatchRegistryRefuses":       `dogwatch_registry_requests_total{registry="hub.public",result="unauthorized"} _x280 1x20`,
		"DogwatchRegistryPaused":        `dogwatch_registry_paused_until_seconds{registry="hub.public",host="docker.io"} 200000x300`,
	}
	engine := promqltest.NewTestEngine(t, false, 15*time.Minute, 1e6)
	at := time.Unix(0, 0).Add(3000 * time.Minute)
	fires := func(rule rulefmt.Rule, series string) bool {
		t.Helper()
		storage := promqltest.LoadedStorage(t, series)
		query, err := engine.NewInstantQuery(t.Context(), storage, promql.NewPrometheusQueryOpts(false, 0), rule.Expr, at)
		if err != nil {
			t.Fatal(err)
		}
		result := query.Exec(t.Context())
		if result.Err != nil {
			t.Fatalf("%s: %v", rule.Alert, result.Err)
		}
		vector, err := result.Vector()
		if err != nil {
			t.Fatal(err)
		}
		return len(vector) > 0
	}
	for _, rule := range alerts(t) {
		series, is := loud[rule.Alert]
		if !is {
			t.Errorf("no case for %s", rule.Alert)
		}
		if fires(rule, quiet) {
			t.Errorf("%s fires while nothing happens", rule.Alert)
		}
		if !fires(rule, "load 10m\n  "+series+"\n") {
			t.Errorf("%s does not fire", rule.Alert)
		}
	}
}

// TestDocumentationHasAlertsAndMetrics: docs/grafana.md has each of them, and no others.
func TestDocumentationHasAlertsAndMetrics(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`(dogwatch_[a-z_]+…?|Dogwatch[A-Za-z]+)`").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = false
	}
	has := func(name string) {
		found := false
		for known := range documented {
			prefix, isPrefix := strings.CutSuffix(known, "…")
			if known == name || isPrefix && strings.HasPrefix(name, prefix) {
				documented[known], found = true, true
			}
		}
		if !found {
			t.Errorf("the page does not have %s", name)
		}
	}
	for _, rule := range alerts(t) {
		has(rule.Alert)
	}
	for name := range served(t) {
		name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "dogwatch_") {
			has(name)
		}
	}
	for name, is := range documented {
		if !is {
			t.Errorf("the page has %s, which does not exist", name)
		}
	}
}
