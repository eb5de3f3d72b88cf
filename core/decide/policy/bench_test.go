package policy

import (
	"strconv"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/sdk"
)

// BenchmarkDecideThousand decides about 1,000 containers with ten candidates each, an
// age, a window, a freeze, a pattern and a choice. The limit is 5 ms.
func BenchmarkDecideThousand(b *testing.B) {
	var rules Rules
	for name, text := range map[string]string{
		RuleUpdate: "auto", RuleThreshold: "minor", RuleMinAge: "7d", RuleWindow: "weekdays 1am-4am; Sat,Sun 02:00-05:00",
		RuleFreeze: "12-20..01-05", RuleSkip: `-(rc|beta)\d*$`,
	} {
		if err := rules.Set(name, text, "policy."+name, time.UTC); err != nil {
			b.Fatal(err)
		}
	}
	updates := make([]Update, 1000)
	for i := range updates {
		updates[i].Subject = "local/app" + strconv.Itoa(i)
		for n := range 10 {
			diff := sdk.DiffMinor
			if n < 3 {
				diff = sdk.DiffMajor
			}
			updates[i].Candidates = append(updates[i].Candidates, version("9."+strconv.Itoa(20-n)+".0", diff, float64(n)))
		}
	}
	made := []choice.Choice{chose(choice.Skip, "9.17.0", 1)}
	facts := Facts{MayUpdate: true, CameBack: func(candidate.Candidate) (time.Time, bool) { return time.Time{}, false }}
	b.ReportAllocs()
	for b.Loop() {
		for i := range updates {
			made[0].Subject = updates[i].Subject
			if d := Decide(updates[i], rules, facts, made, noon); d.State != Held || d.Next.IsZero() {
				b.Fatalf("%+v", d)
			}
		}
	}
}
