// Package tally says what the last check of a container came to, and counts
// containers by it. Everything that shows a number of updates or of failures
// (pages, summary, badge, metrics, log, command line) takes it from here, so that
// they agree.
package tally

import (
	"slices"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// Failed reports whether the operator has to mend something: the last check failed,
// or a label is wrong. Such a container may have an update all the same. One whose
// check waits for a pause of its registry has not failed, whatever it did before.
func Failed(c *sdk.Container) bool {
	if c.Check.State == sdk.CheckFailed {
		return !c.Check.Postponed()
	}
	return c.Error != nil
}

// Part is the one part of all containers that a container belongs to.
type Part string

const (
	// Update: there is something newer, whatever became of the last check.
	Update Part = "update"
	// Broken: the operator has to mend something, and no update is known; see Failed.
	Broken Part = "failed"
	// Postponed: the check waits for a pause of its registry, and no update is known.
	Postponed Part = "postponed"
	// Unchecked: nothing is known yet.
	Unchecked Part = "unchecked"
	// NotCompared: it is not known if there is anything newer, since the last check could
	// compare nothing: Check.Reason says why.
	NotCompared Part = "unknown"
	// Current: the last check found nothing newer.
	Current Part = "current"
)

// PartOf returns the part of a container.
func PartOf(c *sdk.Container) Part {
	switch {
	case c.UpdateAvailable:
		return Update
	case Failed(c):
		return Broken
	case c.Check.Postponed():
		return Postponed
	case c.Check.State == sdk.CheckOK:
		return Current
	case c.Check.State == sdk.CheckUnknown:
		return NotCompared
	}
	return Unchecked
}

// Unknown reports whether it is not known if there is anything newer.
func Unknown(c *sdk.Container) bool {
	return PartOf(c) == NotCompared
}

// Other is the Kind of a new tag whose distance from the running one has no name.
const Other = "other"

// Kind is how much an update changes: sdk.DiffMajor, DiffMinor, DiffPatch or
// DiffPrerelease; where the step is not known, sdk.KindDigest for a new image behind the
// same tag, and Other for a new tag; "" when there is no update.
func Kind(c *sdk.Container) string {
	if !c.UpdateAvailable {
		return ""
	}
	switch d := c.UpdateKind.SemverDiff; d {
	case sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease:
		return d
	}
	if Rebuilt(c) {
		return sdk.KindDigest
	}
	return Other
}

// Rebuilt reports whether an update is a new image behind the tag that runs.
func Rebuilt(c *sdk.Container) bool {
	return c.UpdateAvailable && c.UpdateKind.Kind == sdk.KindDigest
}

// Versions returns the versions of the running and of the offered image behind one tag; ""
// when there is no such update, one of them is not known, or they are the same.
func Versions(c *sdk.Container) (running, offered string) {
	if !Rebuilt(c) || c.Result == nil || c.Image.Version == "" || c.Result.Version == "" ||
		c.Image.Version == c.Result.Version {
		return "", ""
	}
	return c.Image.Version, c.Result.Version
}

// Base returns the base image that is watched in the place of a container's, as users write it:
// "node:22-alpine"; "" when it is the container's own.
func Base(c *sdk.Container) string {
	if c.Base == nil {
		return ""
	}
	return reference.Short(c.Base.Registry.Host, c.Base.Name) + ":" + c.Base.Tag.Value
}

// Others are the newest versions of each step (patch, minor, major) but the one that is the
// update, the smallest step first: 9.0 where the update is 8.2.1.
func Others(c *sdk.Container) (tags []string) {
	if !c.UpdateAvailable {
		return nil
	}
	for _, level := range Levels(c) {
		if level.Tag != c.Result.Tag && !slices.Contains(tags, level.Tag) {
			tags = append(tags, level.Tag)
		}
	}
	return tags
}

// Also returns Others as what follows the version of an update: ", or 9.0"; "" for none.
func Also(c *sdk.Container) (text string) {
	for _, tag := range Others(c) {
		text += ", or " + tag
	}
	return text
}

// State is what became of an update: sdk.StateOffered, StateHeld or StateAutomatic; ""
// when there is none. One that was found before there were decisions is offered.
func State(c *sdk.Container) string {
	switch {
	case !c.UpdateAvailable:
		return ""
	case c.Decision == nil || c.Decision.State == "":
		return sdk.StateOffered
	}
	return c.Decision.State
}

// Approval reports whether an offered update waits for a user's approval.
func Approval(c *sdk.Container) bool {
	return State(c) == sdk.StateOffered && c.Decision != nil &&
		slices.ContainsFunc(c.Decision.Reasons, func(r sdk.Reason) bool { return r.Code == sdk.ReasonApproval })
}

// Counts are numbers of containers. All is the sum of the parts, which are Updates, Failed, Postponed, Unchecked,
// Unknown and Current; Updates is the sum of the kinds, and of Offered, Held and Automatic.
type Counts struct {
	All, Updates, Failed, Postponed, Unchecked, Unknown, Current int
	Major, Minor, Patch, Prerelease, Digest, Others              int
	Offered, Held, Automatic                                     int
	// Approval are those of Offered that wait for a user's approval.
	Approval int
	// Stale are those of Updates that are Failed: what was found before still counts.
	Stale int
}

// Add counts one more container.
func (n *Counts) Add(c *sdk.Container) {
	n.All++
	switch PartOf(c) {
	case Update:
		n.addUpdate(c)
	case Broken:
		n.Failed++
	case Postponed:
		n.Postponed++
	case NotCompared:
		n.Unknown++
	case Current:
		n.Current++
	default:
		n.Unchecked++
	}
}

func (n *Counts) addUpdate(c *sdk.Container) {
	n.Updates++
	switch Kind(c) {
	case sdk.DiffMajor:
		n.Major++
	case sdk.DiffMinor:
		n.Minor++
	case sdk.DiffPatch:
		n.Patch++
	case sdk.DiffPrerelease:
		n.Prerelease++
	case sdk.KindDigest:
		n.Digest++
	default:
		n.Others++
	}
	switch State(c) {
	case sdk.StateHeld:
		n.Held++
	case sdk.StateAutomatic:
		n.Automatic++
	default:
		n.Offered++
		if Approval(c) {
			n.Approval++
		}
	}
	if Failed(c) {
		n.Stale++
	}
}
