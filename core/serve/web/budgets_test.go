package web

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestBudgetsInWords(t *testing.T) {
	allowed := budget.Allowance{Requests: 100, Per: 6 * time.Hour}
	hub := webtest.Configured(kind.Registry, "hub", "public", component.Ready)
	for _, c := range []struct {
		name     string
		forecast budget.Forecast
		row      string
		overview string
	}{
		{"none set", budget.Forecast{Use: budget.Use{Host: "docker.io", Used: 7}, Next: 9},
			"7 requests in the last hour; the next checks need about 9 requests; no limit is set", ""},
		{"enough", budget.Forecast{Use: budget.Use{Host: "docker.io", Used: 7, Allowance: allowed}, Next: 9},
			"7 of 100 requests in 6 h used; the next checks need about 9 requests", ""},
		{"too little", budget.Forecast{Use: budget.Use{Host: "docker.io", Used: 92, Allowance: allowed}, Next: 12},
			"92 of 100 requests in 6 h used; the next checks need about 12 requests, of which 4 are left for later ones",
			"docker.io: 92 of 100 requests in 6 h used; the next checks need about 12 requests, of which 4 are left for later ones."},
		{"reported", budget.Forecast{
			Use: budget.Use{
				Host: "docker.io", Used: 50,
				Reported: budget.Report{Allowance: budget.Allowance{Requests: 60, Per: time.Minute}, Remaining: 10}, Since: 7,
			}, Next: 12,
		},
			"50 requests in the last hour; the host reports 3 of 60 requests in 1 min left; the next checks need about 12 requests, of which 9 are left for later ones",
			"docker.io: 50 requests in the last hour; the host reports 3 of 60 requests in 1 min left; the next checks need about 12 requests, of which 9 are left for later ones."},
		{"pulls", budget.Forecast{
			Use: budget.Use{
				Host: "docker.io", Used: 7, Reported: budget.Report{Allowance: budget.Allowance{Requests: 100}, Pulls: true},
			}, Next: 12,
		}, "7 requests in the last hour; the next checks need about 12 requests; no limit is set", ""},
		{"estimated", budget.Forecast{Use: budget.Use{Host: "docker.io", Used: 1, Estimated: true}, Next: 1},
			"about 1 request in the last hour (one for each question, as the plugin does not count them); the next checks need about 1 request; no limit is set", ""},
		{"full", budget.Forecast{
			Use: budget.Use{Host: "docker.io", Used: 100, Allowance: allowed, FullUntil: webtest.Noon.Add(time.Hour)}, Next: 12,
		}, "100 of 100 requests in 6 h used; the next checks need about 12 requests, of which 12 are left for later ones",
			"docker.io: 100 of 100 requests in 6 h used; the next checks need about 12 requests, of which 12 are left for later ones."},
	} {
		t.Run(c.name, func(t *testing.T) {
			hub.Budgets = []budget.Forecast{c.forecast}
			row := c.forecast
			if row.String() != c.row || !strings.HasPrefix(c.row, row.Brief()) {
				t.Errorf("got %+v", row)
			}
			u := withFakes(t, func(f *fakeService) { f.fakeComponents = fakeComponents{all: []service.Component{hub}} })
			_, body := get(t, u, "/registries/hub/public")
			webtest.Contains(t, body, "Requests", c.row, "does not count as a pull")
			_, body = get(t, u, "/registries")
			webtest.Contains(t, body, "docker.io: "+row.Brief())
			if c.overview != "" {
				_, body = get(t, u, "/")
				webtest.Contains(t, body, c.overview)
			}
		})
	}
}
