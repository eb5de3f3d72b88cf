package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/releasedate"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

func TestReleasedIgnoresImplausibleDates(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for title, tc := range map[string]struct {
		made      time.Time
		available bool
		want      bool
	}{
		"a date":                 {now.Add(-time.Hour), true, true},
		"none":                   {time.Time{}, true, false},
		"nothing is newer":       {now.Add(-time.Hour), false, false},
		"of a reproducible one":  {time.Unix(0, 0), true, false},
		"another way of that":    {time.Date(1980, 1, 1, 0, 0, 1, 0, time.UTC), true, false},
		"the oldest":             {time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), true, true},
		"right before that":      {time.Date(1989, 12, 31, 23, 59, 59, 0, time.UTC), true, false},
		"of a clock that is off": {now.Add(24 * time.Hour), true, true},
		"of one that is wrong":   {now.Add(24*time.Hour + time.Second), true, false},
	} {
		c := sdk.Container{UpdateAvailable: tc.available, Result: &sdk.Result{Created: sdk.TimeOf(tc.made)}}
		if got := candidate.Released(&c, now); got.IsZero() == tc.want || tc.want && !got.Equal(tc.made) {
			t.Errorf("%s: %v, want it known: %t", title, got, tc.want)
		}
	}
	if got := candidate.Released(&sdk.Container{UpdateAvailable: true}, now); !got.IsZero() {
		t.Errorf("without a result it is %v", got)
	}
}

// TestReleaseOfChoosesUpdatesWithoutDate is which dates are to be found out.
func TestReleaseOfChoosesUpdatesWithoutDate(t *testing.T) {
	offered := func(change func(*sdk.Container)) sdk.Container {
		c := container("web", "ghcr.io/team/web:1.0.0")
		c.UpdateAvailable, c.Result = true, &sdk.Result{Tag: "2.0.0"}
		c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, RemoteValue: "2.0.0"}
		change(&c)
		return c
	}
	for title, tc := range map[string]struct {
		change func(*sdk.Container)
		want   bool
	}{
		"a newer tag":         {func(*sdk.Container) {}, true},
		"whose check failed":  {func(c *sdk.Container) { c.Check.State = sdk.CheckFailed }, true},
		"up to date":          {func(c *sdk.Container) { c.UpdateAvailable = false }, false},
		"without a result":    {func(c *sdk.Container) { c.Result = nil }, false},
		"dated":               {func(c *sdk.Container) { c.Result.Created = sdk.TimeOf(time.Unix(1, 0)) }, false},
		"a newer digest":      {func(c *sdk.Container) { c.UpdateKind.Kind = sdk.KindDigest }, false},
		"never checked, bare": {func(c *sdk.Container) { *c = sdk.Container{} }, false},
	} {
		c := offered(tc.change)
		r, undated := candidate.Undated(&c)
		if undated != tc.want {
			t.Errorf("%s: to be found out %t", title, undated)
		}
		if want := (candidate.Release{
			Host: "ghcr.io", Name: "team/web", Tag: "2.0.0", Platform: sdk.Platform{OS: "linux", Architecture: "amd64"},
		}); undated && r != want {
			t.Errorf("%s: %+v, want %+v", title, r, want)
		}
	}
}

// dating is a fixture with a Finder that runs within a bubble.
type dating struct {
	*fixture
	*releasedate.Finder
	said map[string][]registry.Limit // by registry id
}

// date runs a test with a Finder.
func date(t *testing.T, test func(d *dating), change ...func(*fixture, *options)) {
	synctest.Test(t, func(t *testing.T) {
		d := &dating{said: map[string][]registry.Limit{}}
		change = append(change, func(_ *fixture, o *options) {
			o.Queries.Spare = func(_ context.Context, id string) []registry.Limit { return d.said[id] }
		})
		d.fixture = open(t, change...)
		defer d.store.Close()
		d.Finder = releasedate.New(d.Checker.opt.Queries, d.decisions, d.opt.Log)
		ctx, stop := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := d.Finder.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		defer wait.Wait()
		defer stop()
		test(d)
	})
}

// offer makes n containers of a host run 1.0.0 of a repository each, of which 2.0.0 was made an hour ago.
func (d *dating) offer(host string, n int) *fake {
	hub := d.host(host)
	var list []sdk.Container
	for i := range n {
		repo := fmt.Sprintf("team/app%03d", i)
		hub.tags[repo] = []string{"1.0.0", "2.0.0"}
		hub.digests[repo+":2.0.0"] = digest("2") + fmt.Sprint(i)
		hub.manifests[digest("2")+fmt.Sprint(i)] = registry.Manifest{
			Digest: digest("3"), Created: sdk.TimeOf(time.Now().Add(-time.Hour)),
		}
		list = append(list, container(host+fmt.Sprint(i), host+"/"+repo+":1.0.0"))
	}
	d.engine.list = append(d.engine.list, list...)
	d.check()
	for _, h := range d.others {
		h.requests()
	}
	return hub
}

// look wants the dates of all containers and waits until nothing happens any more.
func (d *dating) look() {
	for _, r := range d.store.Snapshot().All() {
		d.Want(&r.Container)
	}
	synctest.Wait()
}

func (d *dating) check() event.Check { return d.fixture.run() }

// known counts the containers that have a date.
func (d *dating) known() (n int) {
	for _, r := range d.store.Snapshot().All() {
		if !candidate.Released(&r.Container, time.Now()).IsZero() {
			n++
		}
	}
	return n
}

func TestFinderStoresReleaseDates(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 2)
		twin := container("twin", "r.example/team/app000:1.0.0")
		d.engine.has(append(d.engine.list, twin)...)
		d.check()
		equal(t, "requests of checks", hub.requests(), []string{"tags team/app000", "tags team/app001"})
		_, last := d.events(0)
		hub.most = 0 // checks list the tags of several repositories at once

		d.look()
		equal(t, "requests of a page view", hub.requests(), []string{
			"manifest team/app000@" + digest("2") + "0 linux/amd64", "manifest team/app001@" + digest("2") + "1 linux/amd64",
			"resolve team/app000:2.0.0", "resolve team/app001:2.0.0",
		})
		if hub.most != 1 {
			t.Errorf("%d requests at once", hub.most)
		}
		if d.known() != 3 {
			t.Errorf("%d dates are known, want those of all 3 containers", d.known())
		}
		events, last := d.events(last)
		slices.Sort(events)
		equal(t, "events", events,
			[]string{"container.changed local/r.example0", "container.changed local/r.example1", "container.changed local/twin"})
		all, err := d.store.EventsBefore(context.Background(), 0, 1)
		if err != nil || all[0].Aspect != event.Released || all[0].Run != "" {
			t.Errorf("the event is %+v, %v", all, err)
		}

		d.look()
		equal(t, "requests of another page view", hub.requests(), nil)
		report := d.check()
		if len(report.Found) != 0 || len(report.Updates) != 3 || d.known() != 3 {
			t.Errorf("the next check reports %+v and keeps %d dates", report, d.known())
		}
		events, _ = d.events(last)
		equal(t, "events of the next check", events, nil)
		hub.requests()

		// The same image in a container that came later costs nothing.
		d.engine.has(append(d.engine.list, container("late", "r.example/team/app000:1.0.0"))...)
		d.check()
		hub.requests()
		d.look()
		equal(t, "requests for the same image", hub.requests(), nil)
		if d.known() != 4 {
			t.Errorf("%d dates are known", d.known())
		}

		// Another tag has another date.
		hub.tags["team/app001"] = append(hub.tags["team/app001"], "3.0.0")
		d.check()
		if c := d.get("id-r.example1"); c.Result.Tag != "3.0.0" || !c.Result.Created.IsZero() {
			t.Errorf("the result is %+v", c.Result)
		}
	})
}

// TestDateDuringACheck: a date that is learnt while a check is under way stays.
func TestDateDuringACheck(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 1)
		hub.before = func(_ context.Context, request string) error {
			if strings.HasPrefix(request, "tags") {
				hub.before = nil
				d.look()
			}
			return nil
		}
		if d.check(); d.known() != 1 {
			t.Error("the check has lost the date")
		}
	})
}

func TestFinderRetriesLater(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 3)
		hub.errs["resolve team/app000:2.0.0"] = sdk.WithKind(sdk.ErrNotFound, errors.New("gone"))
		hub.errs["manifest team/app001@"+digest("2")+"1 linux/amd64"] = sdk.WithKind(sdk.ErrUnavailable, errors.New("down"))
		hub.manifests[digest("2")+"2"] = registry.Manifest{Digest: digest("3"), Created: sdk.TimeOf(time.Unix(0, 0))}
		d.look()
		if n := len(hub.requests()); n != 5 || d.known() != 0 {
			t.Errorf("%d requests, %d dates", n, d.known())
		}
		if c := d.get("id-r.example2"); !c.Result.Created.IsZero() {
			t.Errorf("1970 is stored as %v", c.Result.Created)
		}
		d.look()
		time.Sleep(datePause - time.Second)
		d.look()
		equal(t, "requests too soon", hub.requests(), nil)
		time.Sleep(time.Second)
		clear(hub.errs)
		d.look()
		if n := len(hub.requests()); n != 4 || d.known() != 2 {
			t.Errorf("%d requests, %d dates: that which has none is not requested again", n, d.known())
		}
	})
}

// TestFinderLeavesHalfOfTheLimit is what hosts are spared.
func TestFinderLeavesHalfOfTheLimit(t *testing.T) {
	limit := func(limit, remaining int64, window, age, pause time.Duration) registry.Limit {
		l := registry.Limit{
			Host: "R.example", Limit: limit, Remaining: remaining, Window: window, At: sdk.TimeOf(time.Now().Add(-age)),
		}
		if pause > 0 {
			l.PausedUntil = sdk.TimeOf(time.Now().Add(pause))
		}
		return l
	}
	elsewhere := limit(100, 0, time.Hour, 0, time.Hour)
	elsewhere.Host = "other.example"
	for title, tc := range map[string]struct {
		said func() []registry.Limit
		want int // of 35
	}{
		"says nothing":           {func() []registry.Limit { return nil }, datesPerHour},
		"another host says much": {func() []registry.Limit { return []registry.Limit{elsewhere} }, datesPerHour},
		"has enough": {func() []registry.Limit {
			return []registry.Limit{limit(100, 50, 6*time.Hour, time.Hour, 0)}
		}, 35},
		"has too little": {func() []registry.Limit {
			return []registry.Limit{limit(100, 49, 6*time.Hour, time.Hour, 0)}
		}, 0},
		"had too little, long ago": {func() []registry.Limit {
			return []registry.Limit{limit(100, 0, 6*time.Hour, 6*time.Hour, 0)}
		}, datesPerHour},
		"had too little, without saying for how long": {func() []registry.Limit {
			return []registry.Limit{limit(100, 0, 0, 59*time.Minute, 0)}
		}, 0},
		"asked for a pause": {func() []registry.Limit {
			return []registry.Limit{limit(0, 0, 0, 0, time.Minute)}
		}, 0},
		"asked for a pause that ended": {func() []registry.Limit { return []registry.Limit{limit(100, 99, 0, 0, 0)} }, 35},
	} {
		t.Run(title, func(t *testing.T) {
			date(t, func(d *dating) {
				hub := d.offer("r.example", 35)
				d.said["custom.rexample"] = tc.said()
				d.look()
				if n := len(hub.requests()); n != 2*tc.want || d.known() != tc.want {
					t.Errorf("%d requests, %d dates, want %d", n, d.known(), tc.want)
				}
				d.look()
				equal(t, "requests of another page view", hub.requests(), nil)
			})
		})
	}
}

func TestDatesPerHour(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 2*datesPerHour+1)
		hub.most = 0 // checks list the tags of several repositories at once
		for hours, want := range []int{datesPerHour, 2 * datesPerHour, 2*datesPerHour + 1} {
			d.look()
			if d.known() != want {
				t.Errorf("after %d hours %d dates are known, want %d", hours, d.known(), want)
			}
			time.Sleep(time.Hour - time.Second)
			if d.look(); d.known() != want {
				t.Errorf("a second too soon %d dates are known, want %d", d.known(), want)
			}
			time.Sleep(time.Second)
		}
		if hub.most != 1 {
			t.Errorf("%d requests at once", hub.most)
		}
	})
}

// TestFinderStopsAtTheLimit: the host says what is left when its tag is resolved, before anything counts as a pull.
func TestFinderStopsAtTheLimit(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 5)
		hub.before = func(_ context.Context, request string) error {
			d.said["custom.rexample"] = []registry.Limit{{
				Host: "r.example", Limit: 100, Remaining: 40, Window: time.Hour, At: sdk.TimeOf(time.Now()),
			}}
			return nil
		}
		d.look()
		equal(t, "requests", hub.requests(), []string{"resolve team/app000:2.0.0"})
		d.said = map[string][]registry.Limit{
			"custom.rexample": {{Host: "r.example", Limit: 100, Remaining: 90, Window: time.Hour, At: sdk.TimeOf(time.Now())}},
		}
		hub.before = nil
		if d.look(); d.known() != 5 {
			t.Errorf("%d dates once there is enough, want all: a refusal is no failure", d.known())
		}
	})
}

// TestDatesWaitForThePause: one 429 ends it for all of the host, and for no other.
func TestDatesWaitForThePause(t *testing.T) {
	date(t, func(d *dating) {
		other := d.offer("other.example", 2)
		hub := d.offer("r.example", 3)
		hub.before = func(context.Context, string) error { return limited(time.Hour) }
		d.look()
		equal(t, "requests", hub.requests(), []string{"resolve team/app000:2.0.0"})
		if n := len(other.requests()); n != 4 || d.known() != 2 {
			t.Errorf("%d requests to the other host, %d dates", n, d.known())
		}
		hub.before = nil
		time.Sleep(time.Hour - time.Second)
		d.look()
		equal(t, "requests during the pause", hub.requests(), nil)
		time.Sleep(time.Second)
		if d.look(); d.known() != 4 {
			t.Errorf("%d dates after the pause, want those of all but the one that was refused", d.known())
		}
	})
}

// TestFinderStops ends while a registry does not answer.
func TestFinderStops(t *testing.T) {
	date(t, func(d *dating) {
		hub := d.offer("r.example", 3)
		hub.before = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		d.look() // the end of the test waits for Run
		if n := len(hub.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}
