package metrics

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// selection is a set of series and a selector over it, as PromQL has them.
type selection []map[string]string

func series(family *dto.MetricFamily) selection {
	var all selection
	for _, m := range family.GetMetric() {
		all = append(all, labels(m))
	}
	return all
}

// where keeps the series whose labels match, each value an anchored pattern; a
// missing label is the empty text.
func (s selection) where(pairs ...string) selection {
	var kept selection
	for _, set := range s {
		matches := true
		for pair := range slices.Chunk(pairs, 2) {
			matches = matches && regexp.MustCompile("^(?:"+pair[1]+")$").MatchString(set[pair[0]])
		}
		if matches {
			kept = append(kept, set)
		}
	}
	return kept
}

func (s selection) by(names ...string) map[string]int {
	groups := map[string]int{}
	for _, set := range s {
		var key []string
		for _, name := range names {
			key = append(key, set[name])
		}
		groups[strings.Join(key, "|")]++
	}
	return groups
}

// TestGrafanaDashboard runs the query of each panel of the dashboard that users of
// What's Up Docker have.
func TestGrafanaDashboard(t *testing.T) {
	containers := series(parse(t,
		scraped(t, eventful(), State{Containers: each(fleet()...), Components: components()}))["wud_containers"])
	t.Run("variables", func(t *testing.T) {
		if hosts := containers.by("watcher"); hosts["local"] != 4 || hosts["remote"] != 2 || len(hosts) != 2 {
			t.Errorf("hosts: %v", hosts)
		}
		if images := containers.by("image_name"); images["library/nginx"] != 1 {
			t.Errorf("images: %v", images)
		}
	})
	for panel, test := range map[string]struct {
		pairs []string
		want  int
	}{
		"images monitored":        {[]string{"watcher", ".*"}, 6},
		"images monitored on one": {[]string{"watcher", "local|other"}, 4},
		"major updates": {[]string{"update_available", "true", "update_kind_semver_diff", "major",
			"watcher", ".*", "image_name", ".*"}, 1},
		"minor updates": {[]string{"update_available", "true", "update_kind_semver_diff", "minor",
			"watcher", ".*", "image_name", ".*"}, 1},
		"patch updates, none": {[]string{"update_available", "true", "update_kind_semver_diff", "patch",
			"watcher", ".*", "image_name", ".*"}, 0},
		"updates of one image":        {[]string{"update_available", "true", "image_name", "library/postgres"}, 1},
		"all updates, for alert rule": {[]string{"update_available", "true"}, 3},
	} {
		t.Run(panel, func(t *testing.T) {
			if got := len(containers.where(test.pairs...)); got != test.want {
				t.Errorf("%d series, want %d", got, test.want)
			}
		})
	}
	t.Run("table", func(t *testing.T) {
		rows := containers.by("display_name", "update_kind_remote_value", "update_kind_semver_diff", "watcher",
			"image_tag_value", "result_link")
		for _, row := range []string{
			"The nginx|1.26.0|minor|local|1.25.0|https://example.org/1.26",
			"The redis|sha256:d3|undefined|local|1.25.0|https://example.org/1.26",
			"|undefined|undefined|local||",
		} {
			if rows[row] != 1 {
				t.Errorf("no row %q in %v", row, rows)
			}
		}
	})
}

// TestExpositionServesQueriesOfDashboards: the shapes of queries that are in use elsewhere.
func TestExpositionServesQueriesOfDashboards(t *testing.T) {
	families := parse(t, scraped(t, eventful(), State{Containers: each(fleet()...), Components: components()}))
	containers := series(families["wud_containers"])
	if by := containers.by("status"); by["running"] != 5 || by["exited"] != 1 {
		t.Errorf("by status: %v", by)
	}
	full := containers.where("name", "nginx")[0]
	for _, name := range []string{"name", "status", "watcher", "image_name", "image_tag_value", "image_architecture",
		"image_registry_name", "update_available", "update_kind_kind", "result_tag"} {
		if full[name] == "" {
			t.Errorf("label %s is missing", name)
		}
	}
	for _, m := range families["wud_watcher_total"].GetMetric() {
		want := map[string]float64{"local": 4, "remote": 2, "idle": 0}[labels(m)["name"]]
		if labels(m)["type"] != "docker" || m.GetGauge().GetValue() != want {
			t.Errorf("wud_watcher_total: %v", m)
		}
	}
	for _, m := range families["wud_registry_response"].GetMetric() {
		if set := labels(m); set["type"] == "hub" {
			if s := m.GetSummary(); set["name"] != "public" || s.GetSampleCount() != 2 || s.GetSampleSum() < .59 ||
				s.GetSampleSum() > .61 || len(s.GetQuantile()) != 7 {
				t.Errorf("wud_registry_response: %v", m)
			}
		}
	}
	failed := 0.0
	for _, m := range families["wud_trigger_count"].GetMetric() {
		if set := labels(m); set["type"] == "smtp" && set["name"] == "main" && set["status"] == "error" {
			failed = m.GetCounter().GetValue()
		}
	}
	if failed != 1 {
		t.Errorf("wud_trigger_count of errors is %v, want 1", failed)
	}
}

// TestExpositionDropsRemovedContainers: alerts on a series that exists would never end.
func TestExpositionDropsRemovedContainers(t *testing.T) {
	m := New("1", all)
	scraped(t, m, State{Containers: each(fleet()...)})
	if left := parse(t, scraped(t, m, State{}))["wud_containers"]; left != nil {
		t.Errorf("left: %v", left)
	}
	if text := scraped(t, m, State{}); strings.Contains(text, "dogwatch_containers{") {
		t.Error("dogwatch_containers counts what is gone")
	}
}
