package preview

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestReasonInGerman(t *testing.T) {
	german := language.New().Named("de")
	until := sdk.TimeOf(time.Date(2026, 11, 30, 9, 0, 0, 0, time.Local))
	for want, r := range map[string]sdk.Reason{
		"es ist jünger, als die Regeln verlangen, wartet also bis Mo 30.11.2026 09:00 (minage)": {
			Code: policy.ReasonMinAge, Text: "it is 1 day old, younger than 7", Source: "minage", Until: until,
		},
		"es wurde von ana bis Mo 30.11.2026 09:00 zurückgestellt": {
			Code: policy.ReasonSnoozed, Text: "it was snoozed by ana", Source: "ana", Until: until,
		},
		"es wurde mit einem Link von ntfy.main bis zur nächsten Version zurückgestellt": {
			Code: policy.ReasonSnoozed, Text: "it was snoozed with a link sent by ntfy.main until the next version",
			Source: "link of trigger ntfy.main",
		},
		"want a duration (Label x)": {Code: policy.ReasonInvalidRule, Text: "want a duration", Source: "label x"},
		"zurückgehalten":            {Code: "from.elsewhere"},
	} {
		if got := german.Say(Sentence(r)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDecisionsKeepTheirFactsInGerman decides for each reason that there is, and fails where its German sentence loses
// a version, a time, a number or a rule of the English one.
func TestDecisionsKeepTheirFactsInGerman(t *testing.T) {
	german, now := language.New().Named("de"), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	version := candidate.Candidate{Tag: "8.2.3", Kind: sdk.KindTag, Diff: sdk.DiffMajor, Created: now.Add(-26 * time.Hour)}
	digest := candidate.Candidate{Tag: "latest", Digest: "sha256:a", Kind: sdk.KindDigest, FirstSeen: now.Add(-time.Hour)}
	unseen, moved, before := version, version, version
	unseen.Created = time.Time{}
	moved.Moved, moved.FirstSeen = true, now.Add(-time.Hour)
	before.OfferedAt = now.Add(-2 * time.Hour)
	compared := func(fixed, added vulnerability.Counts) func(candidate.Candidate) (vulnerability.Summary, bool) {
		return func(candidate.Candidate) (vulnerability.Summary, bool) {
			return vulnerability.Summary{Fixed: fixed, Added: added}, true
		}
	}
	fixes := policy.Facts{Compared: compared(vulnerability.Counts{Critical: 3, High: 1, Low: 2}, vulnerability.Counts{})}
	adds := policy.Facts{MayUpdate: true, HoldAdded: vulnerability.High,
		Compared: compared(vulnerability.Counts{}, vulnerability.Counts{Critical: 1})}
	english := regexp.MustCompile(`\b(the|is|of|and|not|with|no|are|to|by|from|it|its|has|was|old)\b`)
	seen := map[string]bool{}
	for _, c := range []struct {
		rules     string
		candidate candidate.Candidate
		facts     policy.Facts
		want      string
	}{
		{"threshold=minor", version, policy.Facts{}, "8.2.3 ist ein major-Update, und die Schwelle ist minor"},
		{"minage=7d", version, policy.Facts{}, "8.2.3 wurde am 19.11.2026 10:00 veröffentlicht und muss mindestens 7 Tage alt sein"},
		{"minage=7d", digest, policy.Facts{},
			"das neue Image von latest wurde am 20.11.2026 11:00 zum ersten Mal gesehen und muss mindestens 7 Tage alt sein"},
		{"minage=7d", unseen, policy.Facts{}, "8.2.3 wurde eben zum ersten Mal gesehen und muss mindestens 7 Tage alt sein"},
		{"minage=7d", moved, policy.Facts{}, "8.2.3 zeigt seit 19.11.2026 10:00 auf ein anderes Image und muss mindestens 7 Tage alt sein"},
		{"minage=1h", version, policy.Facts{AgesByDigest: true}, "8.2.3 muss mindestens 1 Stunde alt sein, und das Alter ist erst nach der nächsten Prüfung bekannt"},
		{"minage=7d; security=high", version, fixes,
			"es behebt 3 kritische und 1 hohe Schwachstellen und muss daher nicht 7 Tage alt sein"},
		{"update=auto", version, adds,
			"es wartet auf Ihre Freigabe, da das neue Image 1 kritische Schwachstelle mitbringt"},
		{"skip=^8", version, policy.Facts{}, "8.2.3 passt auf ^8, das übersprungen wird"},
		{"window=Mon 01:00-02:00", version, policy.Facts{}, "es wartet auf das nächste Zeitfenster (Mo 01:00–02:00 UTC)"},
		{"window=Sat,Sun 02:00-05:00,22:00-23:00", version, policy.Facts{},
			"es wartet auf das nächste Zeitfenster (Sa, So 02:00–05:00, 22:00–23:00 UTC)"},
		{"window=first Sunday 03:00-06:00 America/Port-au-Prince", version, policy.Facts{},
			"es wartet auf das nächste Zeitfenster (erster Sonntag 03:00–06:00 America/Port-au-Prince)"},
		{"window=Mon-Wed 03:00-06:00", version, policy.Facts{}, "es wartet auf das nächste Zeitfenster (Mo–Mi 03:00–06:00 UTC)"},
		{"freeze=11-01..12-01", version, policy.Facts{}, "es gilt eine Sperrzeit (11-01..12-01 UTC)"},
		{"update=approve", version, policy.Facts{}, "es wartet auf Ihre Freigabe"},
		{"update=auto; major=approve", version, policy.Facts{MayUpdate: true},
			"es wartet auf Ihre Freigabe, da es ein Major-Update ist"},
		{"update=auto; major=notify", version, policy.Facts{MayUpdate: true},
			"es ist ein Major-Update, das nicht von selbst ausgeführt wird"},
		{"update=auto", version, policy.Facts{Remedy: "set x to true"},
			"der Watcher darf keine Container aktualisieren: set x to true"},
		{"update=auto", before, policy.Facts{MayUpdate: true, Stopped: func() policy.Stop {
			return policy.Stop{Name: "auth", At: now.Add(-time.Hour)}
		}}, "Stack angehalten durch auth (fehlgeschlagen 11:00)"},
	} {
		var rules policy.Rules
		for rule := range strings.SplitSeq(c.rules, "; ") {
			name, value, _ := strings.Cut(rule, "=")
			if err := rules.Set(name, value, "policy", time.UTC); err != nil {
				t.Fatal(err)
			}
		}
		d := policy.Decide(policy.Update{Candidates: []candidate.Candidate{c.candidate}}, rules, c.facts, nil, now)
		if len(d.Reasons) == 0 {
			t.Fatalf("%s: %+v", c.rules, d)
		}
		r := d.Reasons[0]
		seen[r.Code] = true
		got := german.Say(Reason(sdk.Reason{Code: r.Code, Text: r.Text}))
		if got != c.want || english.MatchString(strings.TrimSuffix(got, c.facts.Remedy)) {
			t.Errorf("%s: %q, want %q, of %q", c.rules, got, c.want, r.Text)
		}
		if old := german.Say(Reason(sdk.Reason{Code: r.Code, Text: "said otherwise"})); english.MatchString(old) || old == "" {
			t.Errorf("%s: %q of a text that is not known", c.rules, old)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %v", seen)
	}
}

// TestSentenceOfAWindowBeforeTheMinimumAge names no opening at which nothing happens.
func TestSentenceOfAWindowBeforeTheMinimumAge(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	version := candidate.Candidate{Tag: "8.2.3", Kind: sdk.KindTag, Diff: sdk.DiffMinor, Created: now}
	var rules policy.Rules
	for name, value := range map[string]string{"minage": "7d", "window": "Mon 01:00-02:00"} {
		if err := rules.Set(name, value, "policy", time.UTC); err != nil {
			t.Fatal(err)
		}
	}
	d := policy.Decide(policy.Update{Candidates: []candidate.Candidate{version}}, rules, policy.Facts{}, nil, now)
	r := d.Reasons[1]
	shut := sdk.Reason{Code: r.Code, Text: r.Text, Until: sdk.TimeOf(r.Until)}
	for want, named := range map[string]string{
		"danach wartet es auf ein Zeitfenster (Mo 01:00–02:00 UTC)": "de",
		"it then waits for an update window (Mon 01:00–02:00 UTC)":  "en",
	} {
		if got := language.New().Named(named).Say(Sentence(shut)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
