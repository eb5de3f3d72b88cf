package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// TestBudgetIsKept: a registry gets no more questions than its budget allows, and what is
// postponed is said by the API, with the budget as the reason.
func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	const containers, allowed = 8, 3
	f := newFleet(t, containers, registrysim.Options{})
	d := install(t, append(f.env(), fmt.Sprintf("DOGWATCH_CHECK_BUDGETS=%s=%d/h", f.hosts[0], allowed))...).start()
	get := func(path string) string {
		code, body := d.request(http.MethodGet, path, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return string(body)
	}
	var summary struct{ Containers, Postponed, UpToDate int }
	eventually(t, "the first check is over", func() bool {
		must(t, json.Unmarshal([]byte(get("/api/summary")), &summary))
		return summary.Postponed+summary.UpToDate == containers
	})
	for range 2 { // the first request may get the end of the check at the start
		d.request(http.MethodPost, "/api/containers/watch", "")
	}
	must(t, json.Unmarshal([]byte(get("/api/summary")), &summary))
	if summary.Postponed != containers {
		t.Errorf("after a check without anything left, %+v", summary)
	}
	if counts := f.registries[0].Counts(); counts.Tags != allowed {
		t.Errorf("the registry got %+v, want %d lists of tags", counts, allowed)
	}
	for path, want := range map[string]string{
		"/api/containers": "has no request left of its budget, 3 requests in 1 h (check.budgets)",
		"/api/registries": `"used":3,`,
		"/metrics":        fmt.Sprintf("dogwatch_registry_requests_next{host=%q} %d", f.hosts[0], containers),
		"/":               "3 of 3 requests in 1\u00a0h used",
	} {
		if body := get(path); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q: %s", path, want, body)
		}
	}
}

// TestPlanWithoutBudget: a plan whose image cannot be looked up for the budget of its
// registry says so, and until when, and is a plan all the same.
func TestPlanWithoutBudget(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		engine.Image(t, registry+"/media/player:"+version, "LABEL version="+version)
		engine.Push(t, registry+"/media/player:"+version)
	}
	engine.Pull(t, registry+"/media/player:1.0.0")
	engine.Run(t, "player", registry+"/media/player:1.0.0", nil)
	d := install(t, "WUD_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"WUD_WATCHER_LOCAL_CRON=0 0 1 1 *", "DOGWATCH_WATCHER_DOCKER_LOCAL_UPDATE=true",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry, "DOGWATCH_CHECK_BUDGETS="+registry+"=1/h").start()
	eventually(t, "the update is found", func() bool {
		all := d.containers()
		return len(all) == 1 && all[0].UpdateAvailable
	})
	var plan struct{ Blocks []struct{ Code, Text string } }
	status, body := d.request(http.MethodPost, "/api/containers/"+d.containers()[0].ID+"/plan", "{}")
	must(t, json.Unmarshal(body, &plan))
	if status != http.StatusOK || len(plan.Blocks) != 1 || plan.Blocks[0].Code != "registry.postponed" {
		t.Fatalf("the plan: %d %s", status, body)
	}
	for _, want := range []string{registry + " has no request left of its budget, 1 request in 1 h (check.budgets)",
		"it is free again at 20"} {
		if !strings.Contains(plan.Blocks[0].Text, want) {
			t.Errorf("%q lacks %q", plan.Blocks[0].Text, want)
		}
	}
	if _, page := d.request(http.MethodGet, "/containers/local/player/update", ""); !strings.Contains(string(page),
		"it is free again at 20") {
		t.Errorf("the page of the plan: %s", page)
	}
	d.stop()
}
