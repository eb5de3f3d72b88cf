package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// ago returns noon of a day so many days ago.
func ago(days int) time.Time { return noon.AddDate(0, 0, -days) }

func replay(changes ...Change) *Log {
	l := new(Log)
	for i, c := range changes {
		c.ID = int64(i + 1)
		l.Add(c)
	}
	return l
}

func TestDays(t *testing.T) {
	added := func(days int) Change {
		return Change{At: ago(days), Type: event.ContainerAdded, Subject: "local/web"}
	}
	found := func(days int, kind string) Change {
		return Change{At: ago(days), Type: event.UpdateFound, Subject: "local/web", Kind: kind}
	}
	cleared := func(days int) Change {
		return Change{At: ago(days), Type: event.UpdateCleared, Subject: "local/web"}
	}
	for _, c := range []struct {
		name    string
		log     *Log
		current []Pending
		// want are the updates of each day, as "major minor patch/week month older", from the last days.
		want []string
	}{
		{"nothing", new(Log), nil, []string{"0 0 0/0 0 0"}},
		{"found and cleared", replay(added(3), found(2, sdk.DiffMinor), cleared(1)), nil,
			[]string{"0 0 0/0 0 0", "0 1 0/1 0 0", "0 0 0/0 0 0", "0 0 0/0 0 0"}},
		{"grows", replay(added(2), found(1, sdk.DiffPatch), found(0, sdk.DiffMajor)), nil,
			[]string{"0 0 0/0 0 0", "0 0 1/1 0 0", "1 0 0/1 0 0"}},
		{"within a day", replay(added(1), found(1, sdk.DiffPatch), cleared(1)), nil, []string{"0 0 0/0 0 0", "0 0 0/0 0 0"}},
		{"cleared, before which nothing is known",
			replay(Change{At: ago(2), Type: event.ContainerAdded, Subject: "local/other"}, Change{
				At: ago(1), Type: event.ContainerRemoved, Subject: "local/web", Kind: sdk.DiffMinor,
			}), nil, []string{"0 1 0/1 0 0", "0 0 0/0 0 0", "0 0 0/0 0 0"}},
		{"renamed",
			replay(added(2), found(1, sdk.DiffMinor), Change{
				At: ago(0), Type: event.ContainerRenamed, Subject: "local/site", From: "local/web", Kind: sdk.DiffMinor,
			}), nil, []string{"0 0 0/0 0 0", "0 1 0/1 0 0", "0 1 0/1 0 0"}},
		{"older than the log", replay(added(1)),
			[]Pending{{"local/old", sdk.DiffMajor, ago(2)}, {"local/web", sdk.DiffMajor, ago(2)}},
			[]string{"1 0 0/1 0 0", "1 0 0/1 0 0", "1 0 0/1 0 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			days := c.log.Days(noon, c.current)
			var got []string
			for i, d := range days {
				if want := ago(len(days) - 1 - i).Format(dateForm); d.Date != want {
					t.Errorf("day %d is %s, want %s", i, d.Date, want)
				}
				got = append(got, fmt.Sprintf("%d %d %d/%d %d %d", d.Major, d.Minor, d.Patch, d.Age.Week, d.Age.Month, d.Age.Older))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAgesGrowFromWeekToMonthToOlder(t *testing.T) {
	days := replay(Change{At: ago(60), Type: event.ContainerAdded, Subject: "local/web"}, Change{
		At: ago(40), Type: event.UpdateFound, Subject: "local/web", Kind: sdk.DiffPatch,
	},
		Change{At: ago(20), Type: event.UpdateFound, Subject: "local/web", Kind: sdk.DiffMajor}).Days(noon, nil)
	ages := map[Age]int{}
	for _, d := range days {
		ages[d.Age]++
	}
	if want := (map[Age]int{{}: 20, {Week: 1}: 7, {Month: 1}: 23, {Older: 1}: 11}); !reflect.DeepEqual(ages, want) {
		t.Errorf("days by age are %v, want %v", ages, want)
	}
}

// TestDaysAreWhatWasPendingAtTheirEnd replays random logs, and counts each day a second time with
// nothing but the last event of each container before its end.
func TestDaysAreWhatWasPendingAtTheirEnd(t *testing.T) {
	kinds := []string{"", sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, sdk.KindDigest, tally.Other}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		l := new(Log)
		var changes []Change
		seen := map[string]bool{}
		at := noon.Add(-120 * 24 * time.Hour)
		for i := 1; at.Before(noon); i++ {
			c := Change{
				ID: int64(i), At: at, Type: event.ContainerChanged, Subject: fmt.Sprint("local/", rnd.IntN(8)),
				Kind: kinds[rnd.IntN(len(kinds))],
			}
			switch {
			case !seen[c.Subject]:
				c.Type, c.Kind, seen[c.Subject] = event.ContainerAdded, "", true
			case rnd.IntN(6) == 0:
				c.Type, seen[c.Subject] = event.ContainerRemoved, false
			}
			changes = append(changes, c)
			l.Add(c)
			at = at.Add(time.Duration(rnd.Int64N(int64(30 * time.Hour))))
		}
		days := l.Days(noon, nil)
		if len(days) != Days {
			t.Fatalf("seed %d: %d days", seed, len(days))
		}
		for i, d := range days {
			end := midnight(noon).AddDate(0, 0, i-Days+2)
			pending := map[string]string{}
			for _, c := range changes {
				if c.At.Before(end) && c.Type == event.ContainerRemoved {
					delete(pending, c.Subject)
				} else if c.At.Before(end) {
					pending[c.Subject] = c.Kind
				}
			}
			want := map[string]int{}
			for _, kind := range pending {
				want[kind]++
			}
			delete(want, "")
			got := map[string]int{
				sdk.DiffMajor: d.Major, sdk.DiffMinor: d.Minor, sdk.DiffPatch: d.Patch,
				sdk.DiffPrerelease: d.Prerelease, sdk.KindDigest: d.Digest, tally.Other: d.Other,
			}
			sum := 0
			for kind, n := range got {
				if sum += n; n != want[kind] {
					t.Errorf("seed %d, %s: %d of %s, want %d", seed, d.Date, n, kind, want[kind])
				}
			}
			if d.Updates != sum || d.Age.Week+d.Age.Month+d.Age.Older != sum {
				t.Errorf("seed %d, %s: %d updates, %d by kind, and by age %+v", seed, d.Date, d.Updates, sum, d.Age)
			}
		}
	}
}

// TestMemoryIsBounded has containers fall behind and catch up without end.
func TestMemoryIsBounded(t *testing.T) {
	l := new(Log)
	for i := range 2*maxSpans + 4 {
		kind := sdk.DiffPatch
		if i%2 > 0 {
			kind = ""
		}
		l.Add(Change{ID: int64(i + 1), At: noon, Type: event.ContainerChanged, Subject: "local/web", Kind: kind})
	}
	if len(l.ended) > maxSpans || l.Last() != 2*maxSpans+4 {
		t.Errorf("%d spans are kept, and the last event is %d", len(l.ended), l.Last())
	}
	l.Days(noon.AddDate(1, 0, 0), nil)
	if len(l.ended) > 0 {
		t.Errorf("%d spans of a year ago are kept", len(l.ended))
	}
}
