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

	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
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

// Candidate is a version that is newer than what runs.
type Candidate struct {
	// Tag is the tag to run; with Kind sdk.KindDigest it is the running one.
	Tag    string `json:"tag"`
	Digest string `json:"digest,omitempty"` // with sdk.KindDigest: the new digest behind Tag
	// Pinned is the digest behind Tag whose age counts, with sdk.KindTag; "" as long as no rule asks for an age.
	Pinned string `json:"pinned,omitempty"`
	Kind   string `json:"kind"` // sdk.KindTag or sdk.KindDigest
	// the step: sdk.DiffMajor, sdk.DiffMinor, …; "" with sdk.KindDigest unless both versions are known
	Diff string `json:"diff,omitempty"`
	// Version is that of the image, with sdk.KindDigest; "" when it is not known.
	Version string `json:"version,omitempty"`
	// Created is when the image was made, as its registry says; zero when not known.
	Created time.Time `json:"created,omitzero"`
	// FirstSeen is when a check found it first: the tag, and once that was moved what is behind it.
	FirstSeen time.Time `json:"firstSeen,omitzero"`
	// Observed is whether its publication was: an earlier check had looked for such versions and not found it. Its age
	// counts from FirstSeen then, as Created is what whoever published it says.
	Observed bool `json:"appeared,omitempty"`
	// Moved is whether Tag led to another image before FirstSeen. That was Observed then.
	Moved bool `json:"moved,omitempty"`
	// OfferedAt is when it was offered first; zero if it never was. See Found.Offer.
	OfferedAt time.Time `json:"offeredAt,omitzero"`
}

// Began returns from when the age of a candidate counts, and whether that is when it was first seen
// rather than when its image was made; zero when neither is known.
func (c Candidate) Began() (at time.Time, seen bool) {
	if c.Observed || c.Created.IsZero() {
		return c.FirstSeen, true
	}
	return c.Created, false
}

// Update is what a check found for a container.
type Update struct {
	Subject string // "local/nginx"
	// Candidates are the newer versions, the newest first. A new digest behind the same tag comes last.
	Candidates []Candidate
}

// Facts are what a decision depends on besides rules and choices.
type Facts struct {
	// Rebuild is whether the update is one of the image that the container's is built on, so that
	// nobody but who builds that can carry it out.
	Rebuild bool
	// AgeUnread is whether no check has read when versions were made, since no rule asked for an age.
	AgeUnread bool
	// Pins is whether checks pin the images whose ages count. One that is not pinned yet has no age then.
	Pins bool
	// MayUpdate is whether the watcher can and may carry out updates; Remedy what would allow it.
	MayUpdate bool
	Remedy    string
	// CameBack reports whether a version was tried and did not work; nil for none.
	CameBack func(Candidate) bool
	// RolledBack returns how a user rolled a version back that had worked, false when nobody did; nil for none.
	RolledBack func(Candidate) (Rollback, bool)
	// Stopped returns the update that stopped the stack of the container, zero for none; nil for none.
	Stopped func() Stop
	// Compared returns how the vulnerabilities of a version compare with those of the image
	// that runs, if both were scanned; nil for none.
	Compared func(Candidate) (vulnerability.Summary, bool)
	// HoldAdded is the severity of vulnerabilities that keep a version that adds some from
	// being carried out by a rule; vulnerability.Unknown for none. HoldSource is where that is set.
	HoldAdded  vulnerability.Severity
	HoldSource string
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

// ChoiceKind is what a user decided.
type ChoiceKind string

// The kinds of choices.
const (
	Skip     ChoiceKind = "skip"    // not this version: wait for the next
	Snooze   ChoiceKind = "snooze"  // not until Until, or until the next version if that is zero
	Approved ChoiceKind = "approve" // this version, whatever its age and the threshold: in the next window
)

// Choice is what a user decided about one update of one container. A container has at
// most one of each version, and one Snooze of all versions.
type Choice struct {
	Subject string `json:"subject"`
	// Update is the update that the user was shown. A Snooze with the zero Key is of all updates.
	Update update.Key `json:"update"`
	Kind   ChoiceKind `json:"kind"`
	Until  sdk.Time   `json:"until,omitzero"`
	// Actor is who decided, as in the log of operations; for a link in a message, which one.
	Actor string   `json:"actor"`
	At    sdk.Time `json:"at"`
}

// Version returns the tag or the digest that a choice is about; "" for all versions.
func (c Choice) Version() string { return c.Update.To() }

// State is what became of an update.
type State string

// The states of a decision.
const (
	None      State = ""          // there is no update
	Offered   State = "offered"   // triggers notify of it, users can carry it out
	Held      State = "held"      // no trigger runs; Reasons say why
	Automatic State = "automatic" // the watcher is to carry it out now
)

// Decision is what becomes of an update.
type Decision struct {
	State State
	// Target is the version that is offered, held or to be carried out: the index of
	// Update.Candidates; -1 when there is no update.
	Target int
	// Reasons are why, the one that ends last first. A held update has at least one.
	Reasons []Reason
	// Next is when time alone may change the decision; zero for never.
	Next time.Time
}
