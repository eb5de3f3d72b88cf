package api

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/metrics"
	"github.com/dogwatch/dogwatch/sdk"
)

// samples are the lines of a metric, as a scraper reads them: labels by series.
func samples(page, metric string) []map[string]string {
	pair := regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
	var found []map[string]string
	for line := range strings.Lines(page) {
		rest, is := strings.CutPrefix(line, metric+"{")
		if !is {
			continue
		}
		labels := map[string]string{"": strings.TrimSpace(line[strings.LastIndexByte(line, '}')+1:])}
		for _, m := range pair.FindAllStringSubmatch(rest, -1) {
			labels[m[1]] = m[2]
		}
		found = append(found, labels)
	}
	return found
}

// count is count(metric{label="value"}) of a query.
func count(series []map[string]string, label, value string) (n int) {
	for _, s := range series {
		if s[label] == value {
			n++
		}
	}
	return n
}

// TestClientScraper is a scrape job of Prometheus with basic_auth, and the queries of Grafana and of alerts on what it
// reads.
func TestClientScraper(t *testing.T) {
	w := start(t, nil)
	w.put(varied()...)
	c := w.as(10*time.Second, "User-Agent", "Prometheus/3.1.0", "X-Prometheus-Scrape-Timeout-Seconds", "10",
		"Authorization", basic("prometheus", "x"),
		"Accept",
		"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1")
	got := c.get("/metrics").want(200)
	if form := got.header.Get("Content-Type"); !strings.HasPrefix(form, "text/plain;") ||
		got.header.Get("Set-Cookie") != "" {
		t.Errorf("headers %v", got.header)
	}
	page := string(got.body)
	containers := samples(page, "wud_containers")
	same(t, `count(wud_containers{update_available="true"})`, count(containers, "update_available", "true"), 2)
	same(t, `count(wud_containers{update_available="false"})`, count(containers, "update_available", "false"), 3)
	same(t, `count by (status)`,
		[]int{count(containers, "status", "running"), count(containers, "status", "exited"),
			count(containers, "status", "created")}, []int{3, 1, 1})
	same(t, `count(wud_containers{update_available="true", update_kind_semver_diff="minor"})`,
		count(containers, "update_kind_semver_diff", "minor"), 1)
	same(t, `a step that is not known`, count(containers, "update_kind_semver_diff", "undefined"), 4)
	for _, s := range containers {
		for _, label := range []string{"name", "status", "watcher", "image_name", "image_tag_value",
			"image_architecture", "image_registry_name", "update_available", "update_kind_kind"} {
			if s[label] == "" {
				t.Errorf("label %s of %s is missing", label, s["name"])
			}
		}
		if s["update_available"] == "true" && s["result_tag"] == "" || s[""] != "1" {
			t.Errorf("series %v", s)
		}
	}
	for _, want := range []string{"# TYPE wud_containers gauge\n", "# TYPE wud_watcher_total gauge\n",
		`wud_watcher_total{name="local",type="docker"} 4`,
		`dogwatch_component_failed{id="trigger.acme.x"} 1`, `dogwatch_containers{change="failed",watcher="remote"} 1`,
		"dogwatch_deliveries_pending 0", "go_goroutines"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}

	// An alert on a series must end when the container is gone.
	w.do("DELETE", "/api/containers/"+nginx().ID, "").want(204)
	left := samples(string(c.get("/metrics").want(200).body), "wud_containers")
	same(t, "what is left", []int{len(left), count(left, "name", "nginx"), count(left, "update_available", "true")},
		[]int{4, 0, 1})
}

// TestClientAlerts: rules that count failing triggers and slow registries.
func TestClientAlerts(t *testing.T) {
	m := metrics.New("1.2.3", metrics.Options{Enabled: true, WUD: true})
	w := start(t, nil, func(o *testOptions) { o.Metrics = m })
	m.Call("registry.hub.public", "Tags", 200*time.Millisecond, nil)
	m.Event(event.Event{
		Type: event.TriggerFailed, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.gmail"}},
	})
	m.Event(event.Event{Type: event.TriggerSent, Payload: event.Payload{Delivery: &event.Delivery{Trigger: "smtp.gmail"}}})
	page := string(w.get("/metrics").want(200).body)
	for _, want := range []string{`wud_trigger_count{name="gmail",status="error",type="smtp"} 1`,
		`wud_trigger_count{name="gmail",status="success",type="smtp"} 1`,
		"# TYPE wud_trigger_count counter\n", "# TYPE wud_registry_response summary\n",
		`wud_registry_response_count{name="public",type="hub"} 1`,
		`wud_registry_response_sum{name="public",type="hub"} 0.2`,
		`wud_registry_response{name="public",type="hub",quantile="0.999"} 0.2`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestClientScraperOptions: the names of What's Up Docker can be left out, and so can all of it.
func TestClientScraperOptions(t *testing.T) {
	ours := start(t, []string{"DOGWATCH_PROMETHEUS_WUD=false"})
	ours.put(sdk.Container{ID: "c", Name: "c", Watcher: "local"})
	if page := string(ours.get("/metrics").want(200).body); strings.Contains(page, "wud_") ||
		!strings.Contains(page, "dogwatch_containers{") {
		t.Errorf("%s", page)
	}
	off := start(t, []string{"WUD_PROMETHEUS_ENABLED=false"})
	same(t, "metrics that are off", string(off.get("/metrics").want(200).body), "\n")
}
