package policy

import (
	"flag"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// release is a version as it is published; build counts the images of one tag.
type release struct{ major, minor, patch, build int }

func (r release) tag() string {
	return strconv.Itoa(r.major) + "." + strconv.Itoa(r.minor) + "." + strconv.Itoa(r.patch)
}

func (r release) digest() string { return "sha256:" + strconv.Itoa(r.build) }

func (r release) step(from release) string {
	switch {
	case r.major != from.major:
		return sdk.DiffMajor
	case r.minor != from.minor:
		return sdk.DiffMinor
	}
	return sdk.DiffPatch
}

// published is what a registry has of an image, the oldest first.
type published struct {
	release
	at time.Time
}

// container is one container for a year: what its registry publishes, what its rules
// are, what users choose, and what became of all that.
type container struct {
	random  *rand.Rand
	about   string // the rules in short
	rebuilt bool   // one tag that is built anew, not versions
	dated   bool   // its registry tells when images were made
	history []published
	open    func(time.Time) bool // what the rules mean, by the clock on the wall

	rules   Rules
	running release
	facts   Facts
	back    map[string]bool // what was tried and rolled back
	update  Update
	choices []choice.Choice

	decided  Decision
	at       time.Time // of that
	offered  map[update.Key]time.Time
	begun    map[string]bool // operations
	chosenAt time.Time       // of the next choice
	seen     map[string]int  // states and codes of reasons
}

// publish fills the history of a year.
func (c *container) publish(from time.Time, days int) {
	r := release{major: 1}
	for i := range days {
		at := from.Add(time.Duration(i)*day + time.Duration(c.random.Int64N(int64(day))))
		switch n := c.random.IntN(300); {
		case c.rebuilt && n < 250:
			r.build++
		case c.rebuilt:
			continue
		case n < 3:
			r = release{major: r.major + 1}
		case n < 10:
			r = release{major: r.major, minor: r.minor + 1}
		case n < 40:
			r.patch++
		default:
			continue
		}
		c.history = append(c.history, published{r, at})
	}
}

// check finds the candidates, and keeps what it knew of them.
func (c *container) check(now time.Time) {
	if len(c.history) == 0 || c.history[0].at.After(now) {
		return
	}
	known := map[string]candidate.Candidate{}
	for _, k := range c.update.Candidates {
		known[k.Tag+k.Digest] = k
	}
	var found []candidate.Candidate
	for _, p := range c.history {
		if p.at.After(now) {
			break
		}
		if !newer(p.release, c.running) {
			continue
		}
		k := candidate.Candidate{Tag: p.tag(), Kind: sdk.KindTag, Diff: p.step(c.running), FirstSeen: now}
		if c.rebuilt {
			k = candidate.Candidate{Tag: "latest", Kind: sdk.KindDigest, Digest: p.digest(), FirstSeen: now}
		}
		if c.dated {
			k.Created = p.at
		}
		if before, is := known[k.Tag+k.Digest]; is {
			k = before
		}
		found = append(found, k)
	}
	slices.Reverse(found)
	c.update.Candidates = found
}

func newer(a, b release) bool {
	return slices.Compare([]int{a.major, a.minor, a.patch, a.build}, []int{b.major, b.minor, b.patch, b.build}) > 0
}

func (c *container) key(k candidate.Candidate) update.Key {
	if k.Kind == sdk.KindDigest {
		return update.Key{
			Subject: c.update.Subject, Kind: k.Kind, FromTag: k.Tag, FromDigest: c.running.digest(), ToTag: k.Tag,
			ToDigest: k.Digest,
		}
	}
	return update.Key{Subject: c.update.Subject, Kind: k.Kind, FromTag: c.running.tag(), ToTag: k.Tag}
}

// choose lets a user do something with what is offered or held.
func (c *container) choose(now time.Time) {
	c.chosenAt = now.Add(time.Duration(c.random.Int64N(int64(20 * day))))
	if len(c.update.Candidates) == 0 {
		return
	}
	target := c.update.Candidates[max(c.decided.Target, 0)]
	if c.random.IntN(3) == 0 {
		target = c.update.Candidates[c.random.IntN(len(c.update.Candidates))] // of another step
	}
	made := choice.Choice{Subject: c.update.Subject, Update: c.key(target), Actor: "ana", At: sdk.TimeOf(now)}
	later := sdk.TimeOf(now.Add(time.Duration(1+c.random.IntN(14*24)) * time.Hour))
	switch c.random.IntN(8) {
	case 0:
		made.Kind = choice.Skip
	case 1:
		made.Kind, made.Until = choice.Snooze, later
	case 2:
		made.Kind = choice.Snooze
	case 3:
		made.Kind, made.Until, made.Update = choice.Snooze, later, update.Key{}
	case 4:
		made.Kind = choice.Approved
	case 5: // undo
		c.choices = c.choices[:max(0, len(c.choices)-1)]
		return
	default: // the user runs it
		c.run(target, now)
		return
	}
	c.choices = slices.DeleteFunc(c.choices, func(other choice.Choice) bool { return other.Update == made.Update })
	c.choices = append(c.choices, made)
}

// run carries out an operation, which may fail.
func (c *container) run(target candidate.Candidate, now time.Time) {
	if c.random.IntN(8) == 0 {
		c.back[target.Tag+target.Digest] = true
		return
	}
	for _, p := range c.history {
		if c.rebuilt && p.digest() == target.Digest || !c.rebuilt && p.tag() == target.Tag {
			c.running = p.release
		}
	}
	c.choices = slices.DeleteFunc(c.choices, func(made choice.Choice) bool {
		isTarget := func(k candidate.Candidate) bool { return c.key(k).SameTarget(made.Update) }
		return made.Update.Kind != "" && !slices.ContainsFunc(c.update.Candidates, isTarget)
	})
	for i := range c.update.Candidates {
		c.update.Candidates[i].OfferedAt = time.Time{} // from another version it is another update
	}
	c.check(now)
}

// decide decides anew, and begins what is to be carried out.
func (c *container) decide(t *testing.T, now time.Time) {
	t.Helper()
	for {
		c.decided, c.at = Decide(c.update, c.rules, c.facts, c.choices, now), now
		c.judge(t)
		if c.decided.State == None {
			return
		}
		target := c.update.Candidates[c.decided.Target]
		key := c.key(target)
		if c.decided.State != Held {
			if first, twice := c.offer(now); twice {
				t.Fatalf("%s: %s was offered at %s and is offered anew at %s", c.about, key, first, now)
			}
		}
		if c.decided.State != Automatic {
			return
		}
		operation := key.String()
		if c.decided.Reasons != nil && c.decided.Reasons[0].Code == ReasonApproved {
			i := slices.IndexFunc(c.choices, func(made choice.Choice) bool {
				return made.Kind == choice.Approved && c.key(target).SameTarget(made.Update)
			})
			operation += c.choices[i].At.String() // once for each approval
		}
		if c.begun[operation] {
			return
		}
		c.begun[operation] = true
		c.run(target, now)
	}
}

// offer notifies of the target the first time that it is offered. It reports
// whether users were notified of the same update before, and when.
func (c *container) offer(now time.Time) (before time.Time, twice bool) {
	found, first := candidate.Found{Candidates: c.update.Candidates}.Offer(c.decided.Target, now)
	c.update.Candidates = found.Candidates
	if !first {
		return before, false
	}
	key := c.key(found.Candidates[c.decided.Target])
	before, twice = c.offered[key]
	c.offered[key] = now
	return before, twice
}

// judge compares a decision with what the rules mean.
func (c *container) judge(t *testing.T) {
	t.Helper()
	d, now := c.decided, c.at
	c.seen[string(d.State)]++
	codes := map[string]bool{}
	for _, r := range d.Reasons {
		codes[r.Code] = true
		if r.Text == "" || !r.Until.IsZero() && !r.Until.After(now) && r.Code != ReasonApproved {
			t.Fatalf("%s, %s: a reason says nothing, or is over: %+v", c.about, now, r)
		}
	}
	for code := range codes {
		c.seen[code]++
	}
	if len(c.update.Candidates) == 0 {
		if d.State != None {
			t.Fatalf("%s, %s: it is %s without an update", c.about, now, d.State)
		}
		return
	}
	if d.State != Offered && d.State != Automatic && d.State != Held || d.State == Held && len(d.Reasons) == 0 {
		t.Fatalf("%s, %s: %+v", c.about, now, d)
	}
	target := c.update.Candidates[d.Target]
	free := !codes[ReasonApproved]
	switch open := c.open(now); {
	case d.State != Held && !open:
		t.Fatalf("%s: %s is %s at %s, when nothing may happen", c.about, target.Tag, d.State, now)
	case open && (codes[ReasonWindow] || codes[ReasonFreeze]):
		t.Fatalf("%s: %s is held at %s, when everything may happen", c.about, target.Tag, now)
	case d.State != Held && free && !c.allows(target, now):
		t.Fatalf("%s: %s is %s at %s, which the rules forbid", c.about, target.Tag, d.State, now)
	}
	if codes[ReasonMinAge] {
		isAgainst := func(made choice.Choice) bool { return made.Kind != choice.Approved }
		for _, other := range c.update.Candidates {
			if c.allows(other, now) && !slices.ContainsFunc(c.choices, isAgainst) {
				t.Fatalf("%s: at %s it waits for %s, though %s is old enough", c.about, now, target.Tag, other.Tag)
			}
		}
	}
}

// allows reports whether threshold and age let a candidate pass.
func (c *container) allows(k candidate.Candidate, now time.Time) bool {
	began := k.FirstSeen
	if !k.Created.IsZero() {
		began = k.Created
	}
	if c.rules.Threshold.Value == "minor" && k.Diff == sdk.DiffMajor ||
		c.rules.Threshold.Value == "patch" && k.Diff != sdk.DiffPatch && !c.rebuilt {
		return false
	}
	return now.Sub(began) >= c.rules.MinAge.Value
}

var each = flag.Int("each", 2, "how many containers with the same rules live a year; 5 is the soak form")

// TestSimulatedYear lives a year with many containers, in a zone with summer time: checks
// every six hours, releases and daily rebuilds, choices of users, operations of which
// some fail, and in between whatever a decision announced.
func TestSimulatedYear(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, berlin)
	const days = 365
	seen, offered := map[string]int{}, 0
	for i, w := range years(berlin) {
		for n := range *each {
			c := w.container(t, uint64(i**each+n), berlin)
			c.publish(start, days)
			c.live(t, start, start.AddDate(0, 0, days))
			offered += len(c.offered)
			for state, n := range c.seen {
				seen[state] += n
			}
			if len(c.offered) == 0 {
				t.Errorf("%s: nothing was offered in a year", c.about)
			}
		}
	}
	for _, state := range []string{
		string(None), string(Offered), string(Held), string(Automatic), ReasonThreshold, ReasonMinAge, ReasonWindow,
		ReasonFreeze, ReasonSkipped,
		ReasonSnoozed, ReasonApproval, ReasonApproved, ReasonAutomatic, ReasonCameBack, ReasonForbidden,
	} {
		if seen[state] == 0 {
			t.Errorf("the year knows no %q", state)
		}
	}
	t.Logf("%d updates were offered; decisions: %v", offered, slices.Sorted(maps.Keys(seen)))
}

// live passes from one time at which something happens to the next.
func (c *container) live(t *testing.T, start, end time.Time) {
	t.Helper()
	check := start.Add(time.Duration(c.random.Int64N(int64(6 * time.Hour))))
	for now := check; now.Before(end); {
		if now.Equal(check) {
			c.check(now)
			check = check.Add(6 * time.Hour)
		}
		if !now.Before(c.chosenAt) {
			c.choose(now)
		}
		c.decide(t, now)
		next := check
		for _, at := range []time.Time{c.decided.Next, c.chosenAt} {
			if at.After(now) && at.Before(next) {
				next = at
			}
		}
		between := now.Add(time.Duration(c.random.Int64N(int64(next.Sub(now)))))
		if d := Decide(c.update, c.rules, c.facts, c.choices, between); !reflect.DeepEqual(d, c.decided) {
			t.Fatalf("%s: between %s and %s the decision changes:\n%+v\n%+v at %s", c.about, now, next, c.decided, d, between)
		}
		now = next
	}
}
