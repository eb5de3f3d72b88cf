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
	// Watcher is the name (not the id) of the watcher that found the container.
	Watcher string `json:"watcher"`

	IncludeTags    string `json:"includeTags,omitempty"`
	ExcludeTags    string `json:"excludeTags,omitempty"`
	TransformTags  string `json:"transformTags,omitempty"`
	LinkTemplate   string `json:"linkTemplate,omitempty"`
	Link           string `json:"link,omitempty"`
	TriggerInclude string `json:"triggerInclude,omitempty"`
	TriggerExclude string `json:"triggerExclude,omitempty"`

	Image  Image             `json:"image,omitzero"`
	Labels map[string]string `json:"labels,omitempty"`

	// Result is what the last successful check found; a later failed check keeps it.
	Result *Result `json:"result,omitempty"`
	// Error tells why the last check failed, or which label is wrong.
	Error *ContainerError `json:"error,omitempty"`
	// Check is how the last check ended.
	Check CheckState `json:"check,omitzero"`

	UpdateAvailable bool       `json:"updateAvailable"`
	UpdateKind      UpdateKind `json:"updateKind,omitzero"`
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
	// Link is the rendered link to the release notes of Tag.
	Link string `json:"link,omitempty"`
}

// ContainerError is the reason shown on a container.
type ContainerError struct {
	Message string `json:"message"`
}

// The states of a check.
const (
	CheckNever  = "never"  // not checked yet
	CheckOK     = "ok"     // the last check succeeded
	CheckFailed = "failed" // the last check failed; Result is the last good one
)

// CheckState tells how and when the last check of a container ended.
type CheckState struct {
	State string `json:"state"`
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
