package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
)

// What a registry's hosts allow is a field of the registry, and absent where nothing is known.
func TestRegistryRateLimits(t *testing.T) {
	w := start(t, nil)
	want := `[{"host":"auth.docker.io","pausedUntil":"2026-01-02T03:04:05.000Z"},` +
		`{"at":"2026-01-02T03:04:05.000Z","host":"registry-1.docker.io","limit":100,"remaining":0,"source":"192.0.2.7 ***","windowSeconds":21600}]`
	for _, path := range []string{"/api/registries/hub/private", "/api/registries/HUB/public/"} {
		got, err := json.Marshal(w.get(path).want(200).object()["rateLimits"])
		if err != nil || string(got) != want {
			t.Errorf("%s shows %s (%v)\nwant %s", path, got, err, want)
		}
	}
	for _, item := range w.get("/api/registries").want(200).list() {
		limits, shown := item["rateLimits"]
		if got, _ := json.Marshal(limits); (item["type"] == "hub") != (string(got) == want) ||
			shown != (item["type"] == "hub") {
			t.Errorf("%v shows %s", item["id"], got)
		}
	}
	w.get("/api/registries/hub/missing").want(404)
	for _, path := range []string{"/api/watchers/docker/local", "/api/triggers/ntfy/one"} {
		if _, shown := w.get(path).want(200).object()["rateLimits"]; shown {
			t.Errorf("%s has rate limits", path)
		}
	}

	text := string(w.get("/metrics").want(200).body)
	for _, line := range []string{
		`dogwatch_registry_rate_limit{host="registry-1.docker.io",registry="hub.private"} 100`,
		`dogwatch_registry_rate_remaining{host="registry-1.docker.io",registry="hub.public"} 0`,
		`dogwatch_registry_paused_until_seconds{host="auth.docker.io",registry="hub.public"} 1.767323045e+09`,
		`dogwatch_registry_paused_until_seconds{host="registry-1.docker.io",registry="hub.public"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if strings.Contains(text, `dogwatch_registry_rate_limit{host="auth.docker.io"`) {
		t.Error("the metrics have a limit that no registry stated")
	}
}

// What checks request of hosts is a field of the registry that serves them, and in the metrics.
func TestRegistryRequests(t *testing.T) {
	w := start(t, nil)
	w.checks.budgets = []budget.Forecast{
		{
			Use: budget.Use{
				Host: "example.org", For: "example.org", Allowance: budget.Allowance{Requests: 100, Per: 6 * time.Hour},
				Used: 100, FullUntil: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			}, Next: 12,
		},
		{Use: budget.Use{Host: "nowhere.example.com", For: "nowhere.example.com", Used: 3}, Next: 3},
		{
			Use: budget.Use{
				Host: "token.example.com", For: "example.org", Used: 4, Estimated: true,
				Reported: budget.Report{Allowance: budget.Allowance{Requests: 60}, Remaining: 9}, Since: 2,
			},
		},
	}
	shown := ""
	for _, item := range w.get("/api/registries").want(200).list() {
		if got, _ := json.Marshal(item["requests"]); item["requests"] != nil {
			shown += string(got)
		}
	}
	if want := `{"budget":100,"fullUntil":"2026-01-02T03:04:05.000Z","host":"example.org","left":0,"next":12,"used":100,"windowSeconds":21600},{"estimated":true,"host":"token.example.com","left":7,"next":0,"reported":60,"reportedLeft":7,"used":4,"windowSeconds":3600}`; strings.Count(shown, want) != 1 {
		t.Errorf("the registries show %s, want once %s", shown, want)
	}
	if text := string(w.get("/metrics").want(200).body); !strings.Contains(text,
		`dogwatch_registry_requests_used{host="example.org"} 100`) ||
		!strings.Contains(text, `dogwatch_registry_concurrency{host="docker.io"} 16`) {
		t.Error("the metrics lack what was used")
	} else if !strings.Contains(text, `dogwatch_registry_requests_left{host="token.example.com"} 7`) {
		t.Error("the metrics lack what is left")
	}
}
