// Package policy decides what becomes of an update: whether it is offered, held
// until something changes, or carried out automatically, and why. It is free of I/O
// and state: the same input has the same decision, whenever and wherever it is asked.
//
// An update is a list of candidates, the versions that a check found newer than
// what runs. Rules come from configuration and labels, each with its source; choices
// are what users decided about one update or one container.
package policy

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
)

// Mode is what happens to an update that nothing holds.
type Mode string

// The modes.
const (
	// Notify offers it: triggers notify of it, and those that act do as they are configured.
	Notify Mode = "notify"
	// Approve offers it, and triggers that act wait until a user approves it.
	Approve Mode = "approve"
	// Auto has the watcher carry it out.
	Auto Mode = "auto"
)

// Setting is a value of a rule and where it comes from: "label dogwatch.update",
// "policies.careful.minage", "watcher.docker.local.policy.minage", "policy.minage", or
// "default" for what is not set.
type Setting[T any] struct {
	Value  T
	Source string
}

// Rules are what configuration and labels ask for, for one container.
type Rules struct {
	Mode Setting[Mode]
	// Major is the mode of major updates, where it lets less happen than Mode; "" for that one. See IsMajor.
	Major Setting[Mode]
	// Preset is what is known of the image that runs; nil for nothing. Its Line tells which updates are major.
	Preset *preset.Preset
	// Threshold is the largest step that is offered: all, major, minor, patch,
	// major-only, minor-only, or digest (only new images behind the same tag).
	Threshold Setting[string]
	// MinAge is how old a version must be to be offered; 0 is no limit.
	MinAge Setting[time.Duration]
	// Security is the severity of vulnerabilities whose fix makes a version be offered
	// whatever its age; vulnerability.Unknown for none.
	Security Setting[vulnerability.Severity]
	// Window is when updates are offered and carried out; an empty one is always open.
	Window Setting[Window]
	// Freeze is when they are not.
	Freeze Setting[Freeze]
	// Skip matches the tags and digests that are never offered; nil for none.
	Skip Setting[Pattern]
	// Problems are rules that cannot be read: the update is held with each of them.
	Problems []Problem
	// Ignored are rules of a layer that may only tighten and does not; see Tighten. They hold nothing.
	Ignored []Problem

	ownMode Mode // before Tighten; "" for that of Mode
}

// Problem is a rule that cannot be read, or that can never let an update pass.
type Problem struct {
	Source string
	Text   string
}

// Window is a set of times that opens and closes again. Implementations are
// immutable and comparable by their text.
type Window interface {
	// At reports whether it is open, and when that changes next; zero for never.
	At(now time.Time) (open bool, until time.Time)
	String() string
}

// Freeze is a set of times in which nothing is offered; see Window.
type Freeze interface {
	// At reports whether it is in force, and when that changes next; zero for never.
	At(now time.Time) (frozen bool, until time.Time)
	String() string
}

// Pattern matches tags and digests.
type Pattern interface {
	Match(text string) bool
	String() string
}

// Update is what a check found for a container.
type Update struct {
	Subject string // "local/nginx"
	// Candidates are the newer versions, the newest first. A new digest behind the same tag comes last.
	Candidates []candidate.Candidate
}

// Facts are what a decision depends on besides rules and choices.
type Facts struct {
	// Rebuild is whether the update is one of the image that the container's is built on, so that
	// nobody but who builds that can carry it out.
	Rebuild bool
	// AgeUnread is whether no check has read when versions were made, since no rule asked for an age.
	AgeUnread bool
	// AgesByDigest is whether checks find out which image an age is of. Where none has, a version has no age yet.
	AgesByDigest bool
	// MayUpdate is whether the watcher can and may carry out updates; Remedy what would allow it.
	MayUpdate bool
	Remedy    string
	// CameBack returns when a version was tried that did not work, false when it was not; nil for none.
	CameBack func(candidate.Candidate) (time.Time, bool)
	// RolledBack returns how a user rolled a version back that had worked, false when nobody did; nil for none.
	RolledBack func(candidate.Candidate) (Rollback, bool)
	// Stopped returns the update that stopped the stack of the container, zero for none; nil for none.
	Stopped func() Stop
	// Compared returns how the vulnerabilities of a version compare with those of the image
	// that runs, if both were scanned; nil for none.
	Compared func(candidate.Candidate) (vulnerability.Summary, bool)
	// HoldAdded is the severity of vulnerabilities that keep a version that adds some from
	// being carried out by a rule; vulnerability.Unknown for none. HoldSource is where that is set.
	HoldAdded  vulnerability.Severity
	HoldSource string
}

// Trial is an update that was carried out before.
type Trial struct {
	// Ended is when it ended.
	Ended time.Time
	// Undone is how a user rolled it back; nil where it did not work.
	Undone *Rollback
}

// Rollback is how a user rolled an update back.
type Rollback struct {
	By string // the user or token
	At time.Time
}

// Stop is an update of a container that did not work out, and keeps the others of its stack from
// being carried out by themselves.
type Stop struct {
	// Name is the container's.
	Name string
	// Cancelled is whether a user cancelled it, At when it ended.
	Cancelled bool
	At        time.Time
}

// String says it in few words, in the time zone of At: "stack stopped by auth (failed 14:02)".
func (s Stop) String() string {
	how := "failed"
	if s.Cancelled {
		how = "cancelled"
	}
	return fmt.Sprintf("stack stopped by %s (%s %s)", s.Name, how, s.At.Format("15:04"))
}
