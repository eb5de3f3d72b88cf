package budget

import (
	"encoding/json"
	"testing"
	"time"
)

// TestReportLimitsRequests of a host without a budget that is set, until the report is over.
func TestReportLimitsRequests(t *testing.T) {
	now := noon
	b := NewBook(nil, func() time.Time { return now })
	b.Report("gitlab.example", Report{Allowance: Allowance{60, time.Minute}, Remaining: 3, At: now})
	// is older
	b.Report("gitlab.example", Report{Allowance: Allowance{60, time.Minute}, Remaining: 60, At: now.Add(-time.Minute)})
	for i := range 3 {
		if full := take(b, "gitlab.example"); !full.IsZero() {
			t.Fatalf("request %d has to wait until %v", i, full)
		}
	}
	if full := take(b, "gitlab.example"); !full.Equal(now.Add(time.Minute)) {
		t.Errorf("the next request is at %v", full)
	}
	all := b.Plan(map[string]int{"gitlab.example": 10})
	if len(all) != 1 || !all[0].Spreads() || all[0].Left() != 0 || !all[0].ByReport() || all[0].Next != 10 ||
		all[0].FullUntil.IsZero() {
		t.Errorf("the forecasts are %+v", all)
	}
	now = now.Add(time.Minute)
	if full := take(b, "gitlab.example"); !full.IsZero() || b.Of("gitlab.example").Limited() {
		t.Errorf("after the period, the next request is at %v", full)
	}
	b.Report("x", Report{Allowance: Allowance{100, 6 * time.Hour}, At: now})
	if full := take(b, "x"); !full.Equal(now.Add(time.Hour)) { // the period may slide
		t.Errorf("a long period is waited for until %v", full)
	}
	b.Report("x", Report{Allowance: Allowance{100, 0}, At: now.Add(1), ResetsAt: now.Add(2 * time.Hour)})
	if full := take(b, "x"); !full.Equal(now.Add(2 * time.Hour)) {
		t.Errorf("a time that was said is waited for until %v", full)
	}
}

// TestPullsAreNoRequests: a host that counts pulls limits those alone.
func TestPullsAreNoRequests(t *testing.T) {
	b := NewBook(nil, func() time.Time { return noon })
	b.Report("docker.io", Report{Allowance: Allowance{100, 6 * time.Hour}, Remaining: 1, At: noon, Pulls: true})
	for range 50 {
		if full := take(b, "docker.io"); !full.IsZero() {
			t.Fatalf("what is no pull has to wait until %v", full)
		}
	}
	if f := b.Plan(map[string]int{"docker.io": 200})[0]; f.Spreads() || f.Limited() || f.Since != 0 {
		t.Errorf("the forecast is %+v", f)
	}
	taken, full := b.Take("docker.io", true)
	if _, second := b.Take("docker.io", true); !full.IsZero() || second.IsZero() {
		t.Errorf("of one pull, the first has to wait until %v, the second until %v", full, second)
	}
	taken.Done(map[string]int{"docker.io": 2, "auth.docker.io": 1}, true)
	if _, full := b.Take("docker.io", true); full.IsZero() {
		t.Error("a pull more than is left may be made")
	}
}

// TestDoneCountsWhatWasMade: tokens, pages and repetitions count, where they went, and the
// next questions are expected to cost as much.
func TestDoneCountsWhatWasMade(t *testing.T) {
	b := NewBook(map[string]Allowance{"r.example": {10, time.Hour}}, func() time.Time { return noon })
	for range 2 {
		taken, _ := b.Take("r.example", false)
		taken.Done(map[string]int{"R.example": 3, "token.example": 1}, true)
	}
	all := b.Plan(map[string]int{"r.example": 4})
	if len(all) != 2 || all[0].Used != 6 || all[0].Next != 12 || !all[0].Spreads() || all[0].Estimated ||
		all[1].Host != "token.example" || all[1].For != "r.example" || all[1].Used != 2 {
		t.Errorf("the forecasts are %+v", all)
	}
	if taken, full := b.Take("r.example", false); full.IsZero() {
		taken.Done(map[string]int{"site.example": 1}, true) // which answered it
	}
	if all := b.Plan(map[string]int{"r.example": 4}); all[0].Used != 6 || all[0].Next != 12 {
		t.Errorf("after a question that another host answered: %+v", all[0])
	}
	taken, full := b.Take("r.example", false) // 3 of the 4 that are left
	if _, second := b.Take("r.example", false); !full.IsZero() || second.IsZero() {
		t.Errorf("the third question has to wait until %v, the fourth until %v", full, second)
	}
	taken.Done(nil, true)
	if u := b.Of("r.example"); u.Used != 6 {
		t.Errorf("a question without a request counts: %+v", u)
	}
	taken, _ = b.Take("r.example", false)
	taken.Done(nil, false)
	if u := b.Of("r.example"); u.Used != 7 || !u.Estimated {
		t.Errorf("a question whose requests nothing counts: %+v", u)
	}
}

// TestSavedCountsAfterRestart, with another allowance too, and not for ever.
func TestSavedCountsAfterRestart(t *testing.T) {
	now := noon
	clock := func() time.Time { return now }
	b := NewBook(map[string]Allowance{"docker.io": {100, 6 * time.Hour}}, clock)
	for range 10 {
		take(b, "docker.io")
		take(b, "ghcr.io")
		now = now.Add(10 * time.Minute)
	}
	b.Report("ghcr.io", Report{Allowance: Allowance{60, time.Hour}, Remaining: 50, At: now})
	take(b, "ghcr.io")
	b.Plan(map[string]int{"docker.io": 7})
	saved, changed := b.Saved()
	if _, again := b.Saved(); !changed || again {
		t.Errorf("changed is %t, and then %t", changed, again)
	}
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	saved = nil
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	before := Forecasts(map[string]Allowance{"docker.io": {100, 6 * time.Hour}}, saved, now)
	for per, want := range map[time.Duration]int{6 * time.Hour: 10, 30 * time.Minute: 3, 24 * time.Hour: 10} {
		again := NewBook(map[string]Allowance{"docker.io": {100, per}}, clock)
		again.Load(saved)
		if u := again.Of("docker.io"); u.Used < want || u.Used > want+1 {
			t.Errorf("within %v %d are used after a restart, want %d", per, u.Used, want)
		}
		if got, want := again.Of("ghcr.io"), b.Of("ghcr.io"); got.Used != want.Used || got.LeftAsReported() != 49 ||
			got.Left() != 49 {
			t.Errorf("after a restart it is %+v, before it was %+v", got, want)
		}
	}
	if len(before) != 2 || before[0].Used != 10 || before[0].Next != 7 || before[1].Used != b.Of("ghcr.io").Used {
		t.Errorf("the forecasts are %+v", before)
	}
	at := now
	for _, later := range []time.Duration{6*time.Hour + 10*time.Minute, -48 * time.Hour} {
		now = at.Add(later)
		again := NewBook(map[string]Allowance{"docker.io": {100, 6 * time.Hour}}, clock)
		again.Load(saved)
		if u := again.Of("docker.io"); later > 0 && u.Used != 0 ||
			!u.FullUntil.IsZero() && u.FullUntil.After(now.Add(7*time.Hour)) {
			t.Errorf("%v later the use is %+v", later, u)
		}
	}
}
