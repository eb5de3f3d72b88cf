package containers

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/chart"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// versionEvents is how many events of a container are searched for its versions.
	versionEvents = 100
	// versionLines is how many versions its page shows.
	versionLines = 10
)

// versionsView is the line of versions of a container.
type versionsView struct {
	SVG template.HTML
	// First and Last are the ends of the picture.
	First, Last phrase.Phrase
	// Legend has the colours of the picture.
	Legend []legendLine
	// Lines are the versions, the newest first; More is how many older ones are left out.
	Lines []versionLine
	More  int
}

// legendLine is the class of a colour and what it means.
type legendLine struct {
	Class string
	Word  phrase.Phrase
}

// versionLine is a version as users read it.
type versionLine struct {
	history.Version
	Word string
	// Runs is true for the one that runs now.
	Runs bool
	// Tried is when an update to it did not work last; zero for never.
	Tried time.Time
}

// versionLineOf shows the versions of a container from its events, newest first, and those of the updates that did not
// work, with when they were tried last; nil when only one is known.
func versionLineOf(in *language.Language, events []event.Event, c *sdk.Container, tried map[string]time.Time,
	now time.Time) *versionsView {
	events = slices.Clone(events)
	slices.Reverse(events)
	released := func(c *sdk.Container) time.Time { return candidate.Released(c, now) }
	states := history.States(slices.DeleteFunc(events, func(e event.Event) bool {
		return e.Container == nil || e.Container.Watcher != c.Watcher
	}), c, now, released)
	versions := history.Versions(states)
	for _, name := range SortedKeys(tried) {
		if !slices.ContainsFunc(versions, func(v history.Version) bool { return v.Name == name }) {
			versions = append(versions, history.Version{Name: name}) // it ran too short for an event
		}
	}
	if len(versions) < 2 {
		return nil
	}
	v := &versionsView{More: max(0, len(versions)-versionLines)}
	v.First, v.Last = words.Date(states[0].At), phrase.New("today")
	if phrase.English(v.First) == phrase.English(words.Date(now)) {
		v.First, v.Last = words.Clock(states[0].At, now), phrase.New("now")
	}
	for _, one := range slices.Backward(versions[v.More:]) {
		v.Lines = append(v.Lines, versionLine{
			Version: one, Word: versionWord(one.Name), Runs: !one.From.IsZero() && one.Until.IsZero(),
			Tried: tried[one.Name],
		})
	}
	v.SVG = template.HTML(lineOf(in, states, now)) // chart escapes its texts
	v.Legend = legendOf(states)
	return v
}

// legendOf says what the colours of the line mean that it has.
func legendOf(states []history.State) []legendLine {
	has := map[string]bool{}
	for _, s := range states {
		has[cmp.Or(s.Kind, "ok")] = true
	}
	lines := []legendLine{{"ran", phrase.New("running version")}}
	if has["ok"] {
		lines = append(lines, legendLine{"ok", phrase.New("up to date")})
	}
	for _, kind := range []string{sdk.DiffPatch, sdk.DiffMinor, sdk.DiffMajor, sdk.DiffPrerelease, sdk.KindDigest,
		tally.Other} {
		if has[kind] {
			lines = append(lines, legendLine{kind, phrase.New("update pending: %s", words.Kind(kind))})
		}
	}
	return lines
}

// lineOf draws what ran, and below it what was the newest and how far that was from it.
func lineOf(in *language.Language, states []history.State, now time.Time) string {
	first := states[0].At
	span := max(now.Sub(first), time.Second)
	var runs, newest []chart.Segment
	behind := time.Duration(0)
	extend := func(lane []chart.Segment, class, title string, from, to float64) []chart.Segment {
		if last := len(lane) - 1; last >= 0 && lane[last].Title == title {
			lane[last].To = to
			return lane
		}
		return append(lane, chart.Segment{Class: class, Title: title, From: from, To: to})
	}
	for i, s := range states {
		until := now
		if i+1 < len(states) {
			until = states[i+1].At
		}
		from, to := s.At.Sub(first).Seconds()/span.Seconds(), until.Sub(first).Seconds()/span.Seconds()
		runs = extend(runs, "ran", in.Say(phrase.New("ran %s", versionWord(s.Running))), from, to)
		if s.Kind == "" {
			newest = extend(newest, "ok", in.Say(phrase.New("up to date with %s", versionWord(s.Running))), from, to)
			continue
		}
		behind += until.Sub(s.At)
		newest = extend(newest, s.Kind, in.Say(phrase.New("%s was newer (%s)", versionWord(s.Newer),
			words.Kind(s.Kind))), from, to)
	}
	description := phrase.New("Above what ran, below what was newer, since %s: %s, and an update was pending for %d of %d days.",
		words.Date(first), phrase.Count(len(runs), "version"), int(behind.Hours()/24), int(span.Hours()/24))
	return chart.Lanes(chart.Text{ID: "versions", Title: in.Text("Versions by time"), Description: in.Say(description)},
		[][]chart.Segment{runs, newest})
}

// versionWord is a tag, or the beginning of a digest.
func versionWord(name string) string {
	if strings.HasPrefix(name, "sha256:") {
		return words.Digest(name)
	}
	return words.Tag(name)
}
