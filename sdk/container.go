package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// Container is a watched container: what runs, what was asked of it by labels,
// and what the last check found. Its JSON form is the container of the HTTP
// interface, and the same names are used in templates and by triggers.
//
// Fields that do not apply are absent from JSON, never null.
type Container struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	DisplayIcon string `json:"displayIcon,omitempty"`
	// Status is the engine's word for the container's state: "running", "exited", …
	Status string `json:"status,omitempty"`
	// Created is when the container was created; zero when its watcher does not say.
	Created Time `json:"created,omitzero"`
	// Watcher is the name (not the id) of the watcher that found the container.
	Watcher string `json:"watcher"`

	IncludeTags    string `json:"includeTags,omitempty"`
	ExcludeTags    string `json:"excludeTags,omitempty"`
	TransformTags  string `json:"transformTags,omitempty"`
	LinkTemplate   string `json:"linkTemplate,omitempty"`
	Link           string `json:"link,omitempty"`
	TriggerInclude string `json:"triggerInclude,omitempty"`
	TriggerExclude string `json:"triggerExclude,omitempty"`

	Image Image `json:"image,omitzero"`
	// Base is the image that Image is built on, where newer ones of that are looked for instead: the
	// update is one of Base then, and to have it Image is to be built anew. It is nil otherwise.
	Base   *Image            `json:"base,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// ImageLabels names those of Labels that the image brings, sorted. The others were
	// set by the user who created the container.
	ImageLabels []string `json:"imageLabels,omitempty"`

	// Result is what the last successful check found; a later failed check keeps it.
	Result *Result `json:"result,omitempty"`
	// Error tells why the last check failed, or which label is wrong.
	Error *ContainerError `json:"error,omitempty"`
	// Check is how the last check ended.
	Check CheckState `json:"check,omitzero"`

	UpdateAvailable bool       `json:"updateAvailable"`
	UpdateKind      UpdateKind `json:"updateKind,omitzero"`

	// Stack is the Compose project, or the stack of another orchestrator, that the container belongs to.
	Stack string `json:"stack,omitempty"`
	// Skipped are versions that are newer by their number alone and not offered, the best first.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Decision is what became of the update; nil while there is none.
	Decision *Decision `json:"decision,omitempty"`
	// IsSnoozed is true while a user wants no notification of the update, until
	// SnoozedUntil or, if that is zero, until the next version.
	IsSnoozed    bool `json:"isSnoozed,omitempty"`
	SnoozedUntil Time `json:"snoozedUntil,omitzero"`
	// IsCoolingDown is true while the update is younger than Delay, the age that is asked for.
	IsCoolingDown    bool   `json:"isCoolingDown,omitempty"`
	CoolingDownUntil Time   `json:"coolingDownUntil,omitzero"`
	Delay            string `json:"delay,omitempty"` // "7d", as written in the rule
}

// Watched returns the image of which newer ones are looked for: Base, or else Image.
func (c *Container) Watched() *Image {
	if c.Base != nil {
		return c.Base
	}
	return &c.Image
}

// The values of Decision.State.
const (
	StateOffered   = "offered"   // it can be carried out; triggers notify of it
	StateHeld      = "held"      // no trigger runs; Reasons say why
	StateAutomatic = "automatic" // it is carried out by itself
)

// Decision is what became of an update, by rules and by what users chose.
type Decision struct {
	State   string   `json:"state"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Until is when time alone changes it next; zero for never.
	Until Time `json:"until,omitzero"`
	// OfferedAt is when the update was offered for the first time, which is when
	// triggers were notified of it.
	OfferedAt Time `json:"offeredAt,omitzero"`
}

// ReasonApproval is the code of the reason of an offered update that waits for a user's approval.
const ReasonApproval = "approval"

// Reason says why a decision is as it is.
type Reason struct {
	// Code is stable: "age.min".
	Code string `json:"code"`
	Text string `json:"text"`
	// Source is the rule or the user behind it: "label dogwatch.update.minage".
	Source string `json:"source,omitempty"`
	// Until is when it ends by itself; zero when it does not.
	Until Time `json:"until,omitzero"`
}

// Levels are the newest versions of each step from the one that runs.
type Levels struct {
	Patch *Release `json:"patch,omitempty"`
	Minor *Release `json:"minor,omitempty"`
	Major *Release `json:"major,omitempty"`
}

// Skipped is a version that is newer by its number alone.
type Skipped struct {
	Tag     string `json:"tag"`
	Created Time   `json:"created,omitzero"` // when its image was built
	// Text says why it is not offered: "1.8.1259 was built 13 months before what runs".
	Text string `json:"text"`
}

// Release is a version that is newer than the one that runs.
type Release struct {
	Tag string `json:"tag"`
	// Created is when its image was made, if its registry was asked.
	Created Time `json:"created,omitzero"`
	// FirstSeen is when a check found it first.
	FirstSeen Time `json:"firstSeen,omitzero"`
	// Link is the link to its release notes.
	Link string `json:"link,omitempty"`
}

// Image is the image a container runs.
type Image struct {
	// ID is the engine's image identifier, prefixed by its digest algorithm.
	ID       string   `json:"id,omitempty"`
	Registry Registry `json:"registry"`
	// Name is the repository path, such as "library/nginx".
	Name         string `json:"name,omitempty"`
	Tag          Tag    `json:"tag"`
	Digest       Digest `json:"digest"`
	Architecture string `json:"architecture,omitempty"`
	OS           string `json:"os,omitempty"`
	Variant      string `json:"variant,omitempty"`
	Created      Time   `json:"created,omitzero"`
	// Version is the version of the image, whatever its tag: "1.27.2" of latest. Its label says it, or
	// else the tag with the same digest; "" when it is not known.
	Version string `json:"version,omitempty"`
	// Built is true when the image was made on the engine's machine: no registry has a newer one.
	Built bool `json:"built,omitempty"`
}

// Registry says where an image comes from.
type Registry struct {
	// Name is the id of the registry component that serves the image: "hub.public".
	Name string `json:"name,omitempty"`
	// URL is the base of the registry's API, with scheme and "/v2".
	URL string `json:"url,omitempty"`
	// Host is the registry host of the image reference: "docker.io", "ghcr.io", "localhost:5000".
	Host string `json:"host,omitempty"`
}

// Tag is the tag a container runs.
type Tag struct {
	Value string `json:"value"`
	// Semver is true when the tag, after the container's transform, is a version that can be compared.
	Semver bool `json:"semver"`
	// Floating is true when the tag is a version and the registry has more specific tags
	// of its family: what is behind 16-alpine changes with each 16.4-alpine. Checks find it out.
	Floating bool `json:"floating,omitempty"`
}

// Digest is what is known of the running image's digest.
type Digest struct {
	// Watch is true when a new digest behind the same tag counts as an update.
	Watch bool `json:"watch"`
	// Repo is the digest under which the engine pulled the image.
	Repo string `json:"repo,omitempty"`
	// Pinned is true when the container was created from Repo, with or without a tag
	// before it: it stays on that digest however often it is recreated.
	Pinned bool `json:"pinned,omitempty"`
	// Value is the digest a remote digest is compared with.
	Value string `json:"value,omitempty"`
	// Repos are the engine's repository digests of this image, as "repository@digest".
	Repos []string `json:"-"`
}

// Platform selects one image of a multi-platform index.
type Platform struct {
	OS           string `json:"os,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	Variant      string `json:"variant,omitempty"`
}

// Platform returns the platform of the image.
func (i Image) Platform() Platform {
	return Platform{OS: i.OS, Architecture: i.Architecture, Variant: i.Variant}
}

// Result is what a check found.
type Result struct {
	// Tag is the newest matching tag, or the running one when none is newer.
	Tag     string `json:"tag,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Created Time   `json:"created,omitzero"`
	// Version is the version of the image behind Digest, as the image says it, or else the tag with
	// that digest; "" when it is not known, and where Tag says it.
	Version string `json:"version,omitempty"`
	// Link is the rendered link to the release notes of Tag.
	Link string `json:"link,omitempty"`
	// Levels are the newest versions of each step, Tag among them; nil when there is none.
	Levels *Levels `json:"levels,omitempty"`
}

// ContainerError is the reason shown on a container.
type ContainerError struct {
	Message string `json:"message"`
	// Cause is what other containers of the same registry may fail by as well, in a few words:
	// "Docker Hub is unavailable". It is "" where the error is the container's own.
	Cause string `json:"cause,omitempty"`
}

// The states of a check.
const (
	CheckNever  = "never"  // not checked yet
	CheckOK     = "ok"     // the last check succeeded
	CheckFailed = "failed" // the last check failed; Result is the last good one
	// CheckUnknown is the state of a container of which the last check could compare nothing, so
	// that it is not known whether there is anything newer: CheckState.Reason says why.
	CheckUnknown = "unknown"
)

// CheckState tells how and when the last check of a container ended.
type CheckState struct {
	State string `json:"state"`
	// Reason says why a State of CheckUnknown is one; "" with every other.
	Reason string `json:"reason,omitempty"`
	// At is when the last check ended.
	At Time `json:"at,omitzero"`
	// PostponedUntil is until when the registry wants no requests, if a later
	// check could not ask it because of that. State, At and what was found are
	// then those of the check before.
	PostponedUntil Time `json:"postponedUntil,omitzero"`
	// PostponedReason says who asked for the pause.
	PostponedReason string `json:"postponedReason,omitempty"`
}

// Postponed reports whether the last check waits until the registry may be asked again.
func (s CheckState) Postponed() bool { return !s.PostponedUntil.IsZero() }

// Succeeded reports whether the last check did not fail, whether or not it could compare anything.
func (s CheckState) Succeeded() bool { return s.State == CheckOK || s.State == CheckUnknown }

// The values of UpdateKind.Kind.
const (
	KindTag     = "tag"
	KindDigest  = "digest"
	KindUnknown = "unknown"
)

// The values of UpdateKind.SemverDiff.
const (
	DiffMajor      = "major"
	DiffMinor      = "minor"
	DiffPatch      = "patch"
	DiffPrerelease = "prerelease"
	DiffUnknown    = "unknown"
)

// UpdateKind says how the result differs from what runs.
type UpdateKind struct {
	Kind        string `json:"kind"`
	LocalValue  string `json:"localValue,omitempty"`
	RemoteValue string `json:"remoteValue,omitempty"`
	SemverDiff  string `json:"semverDiff,omitempty"`
	// Result carries the link in simulated containers, as the HTTP interface allows there.
	Result *Result `json:"result,omitempty"`
}

// timeLayout is ISO 8601 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is an instant whose text form is ISO 8601 UTC with milliseconds.
// The zero Time means "not known" and is left out of JSON.
type Time struct{ time.Time }

// TimeOf returns t in UTC, cut to milliseconds.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Millisecond)}
}

// String returns the text form, or "" for the zero Time.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// MarshalJSON writes the text form; the zero Time is the empty string.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads any RFC 3339 time; the empty string and null are the zero Time.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("time: %w", err)
	}
	if s == nil || *s == "" {
		*t = Time{}
		return nil
	}
	parsed, err := time.Parse(time.RFC3339Nano, *s)
	if err != nil {
		return fmt.Errorf("time %q: want ISO 8601, such as 2024-01-02T03:04:05.678Z", *s)
	}
	*t = TimeOf(parsed)
	return nil
}
