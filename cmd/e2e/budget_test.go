package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
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
	d.request(http.MethodPost, "/api/containers/watch", "")
	must(t, json.Unmarshal([]byte(get("/api/summary")), &summary))
	if summary.Postponed != containers {
		t.Errorf("after a check without anything left, %+v", summary)
	}
	if counts := f.registries[0].Counts(); counts.Tags != allowed {
		t.Errorf("the registry got %+v, want %d lists of tags", counts, allowed)
	}
	for path, want := range map[string]string{
		"/api/containers": "has no request left of its budget, 3 requests in 1h (check.budgets)",
		"/api/registries": `"used":3,`, "/metrics": fmt.Sprintf("dogwatch_registry_requests_next{host=%q} %d", f.hosts[0], containers), "/": "3 of 3 requests in 1h used",
	} {
		if body := get(path); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q: %s", path, want, body)
		}
	}
}
