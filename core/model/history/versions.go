package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// State is what a container ran from a time on, and what was newer then.
type State struct {
	At time.Time
	// Running and Newer are tags, or digests where the image behind a tag is watched; Newer is "" when nothing was.
	Running, Newer string
	// Kind is that of tally.Kind; "" when nothing was newer.
	Kind string
	// Released is when what is newer was made; zero when that is not known.
	Released time.Time
}

// States returns what the events of one container say, in their order, without what
// changes neither. now is what it is like now, and the last state if it differs; released
// returns when what is newer for a container was made.
func States(events []event.Event, now *sdk.Container, at time.Time, released func(*sdk.Container) time.Time) []State {
	var states []State
	image := "" // of the last state
	add := func(c *sdk.Container, at time.Time) {
		s := stateOf(c)
		if s.At = at; s.Newer != "" {
			s.Released = released(c)
		}
		last := len(states) - 1
		if last >= 0 && c.Image.ID != "" && c.Image.ID == image && states[last].Running == c.Image.Tag.Value {
			states[last].Running = s.Running // whose digest was not known yet
		}
		image = c.Image.ID
		if last < 0 || states[last].Running != s.Running || states[last].Newer != s.Newer || states[last].Kind != s.Kind {
			states = append(states, s)
		} else if !s.Released.IsZero() {
			states[last].Released = s.Released
		}
	}
	for _, e := range events {
		if e.Container != nil && e.Type != event.ContainerRemoved {
			add(e.Container, e.At)
		}
	}
	add(now, at)
	return states
}

func stateOf(c *sdk.Container) State {
	s := State{Running: c.Image.Tag.Value, Kind: tally.Kind(c)}
	if c.Image.Digest.Watch {
		s.Running = cmp.Or(c.Image.Digest.Repo, c.Image.Digest.Value, s.Running)
	}
	switch {
	case s.Kind == "":
		return s
	case tally.Rebuilt(c):
		s.Newer = c.UpdateKind.RemoteValue
		if c.UpdateKind.LocalValue != "" {
			s.Running = c.UpdateKind.LocalValue
		}
	case c.Result != nil:
		s.Newer = c.Result.Tag
	}
	return s
}

// Version is one that a container ran, or might have run.
type Version struct {
	// Name is a tag or a digest.
	Name string
	// Kind is how far it was from what ran when it was found, and Found when; "" and
	// zero for what ran before anything is known.
	Kind  string
	Found time.Time
	// Released is when it was made; zero when that is not known.
	Released time.Time
	// From is since when it ran, zero when it never did, and Until up to when; zero when it still runs.
	From, Until time.Time
}

// Versions returns the versions of states in the order in which they became known.
func Versions(states []State) []Version {
	var all []Version
	version := func(name string) *Version {
		i := slices.IndexFunc(all, func(v Version) bool { return v.Name == name })
		if i < 0 {
			i, all = len(all), append(all, Version{Name: name})
		}
		return &all[i]
	}
	for i, s := range states {
		v := version(s.Running)
		if v.From.IsZero() {
			v.From = s.At
		}
		if v.Until = (time.Time{}); i+1 < len(states) && states[i+1].Running != s.Running {
			v.Until = states[i+1].At
		}
		if s.Newer == "" {
			continue
		}
		if v = version(s.Newer); v.Found.IsZero() && v.From.IsZero() {
			v.Found, v.Kind = s.At, s.Kind
		}
		if v.Released.IsZero() {
			v.Released = s.Released
		}
	}
	return all
}
