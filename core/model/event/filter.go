package event

import "time"

// Filter selects events; zero fields select all.
type Filter struct {
	// Public leaves out the types that are Private.
	Public bool
	// SkipReleased leaves out that a release date became known later; see Released.
	SkipReleased bool
	// Types are those wanted; none means all.
	Types []Type
	// Subject is the whole subject; see Event.
	Subject string
	// Watcher selects the events of a watcher and of its containers, by the subject.
	Watcher string
	// Text is a part of the subject, whatever its letter case (of ASCII).
	Text string
	// Named are subjects that are selected with a Text that they do not have in them.
	Named []string
	// Since is the earliest time, Until the first that is too late.
	Since, Until time.Time
	// Before is the id below which to start, for the page after this one.
	Before int64
	// Limit is at most how many; below 1 means 100.
	Limit int
}
