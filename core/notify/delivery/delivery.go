// Package delivery holds what is pending for triggers: the update of a container,
// or a batch of them, that one trigger has to send, and how that went.
package delivery

import (
	"crypto/rand"
	"strings"
	"time"
)

// The states of a delivery.
const (
	Pending = "pending" // to be sent at NextAt
	Sending = "sending" // claimed by a worker
	Sent    = "sent"
	Failed  = "failed"  // given up; a user may retry it
	Skipped = "skipped" // no longer worth sending; planned again if it is offered again
)

// Delivery is what one trigger has to send once.
type Delivery struct {
	// ID is the same at every attempt. The store chooses it.
	ID int64 `json:"id"`
	// Trigger is the id of the component, such as "smtp.main".
	Trigger string `json:"trigger"`
	// Subject and Fingerprint are the deduplication key: for one trigger the same pair
	// is delivered once.
	Subject     string `json:"subject"`
	Fingerprint string `json:"fingerprint"`
	// Manual is true for a run that a user started. It is never deduplicated, and
	// Event is 0.
	Manual bool `json:"manual,omitempty"`
	// Event is the id of the event it was planned for, Run the check it came from.
	Event int64  `json:"event"`
	Run   string `json:"run,omitempty"`
	Batch bool   `json:"batch"`
	// Containers are the ids of the containers it is about.
	Containers []string `json:"containers"`
	// Again marks, while it is planned, a delivery that is wanted only if the same one was skipped before.
	Again bool   `json:"-"`
	State string `json:"state"`
	// Attempts counts the claims, the running one included.
	Attempts  int       `json:"attempts"`
	NextAt    time.Time `json:"nextAt"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// Error is why the last attempt did not succeed.
	Error string `json:"error,omitempty"`
	// Title is that of the message of the last attempt; "" before, and of deliveries of older versions.
	Title string `json:"title,omitempty"`
	// Payload is what is to be sent. It is dropped once sent or skipped, and not part of lists.
	Payload []byte `json:"-"`
}

// manualPrefix begins the fingerprints of manual runs; others are hexadecimal.
const manualPrefix = "manual-"

// NewManualFingerprint returns a fingerprint that no other delivery has.
func NewManualFingerprint() string { return manualPrefix + rand.Text() }

// IsManual reports whether a fingerprint is that of a manual run.
func IsManual(fingerprint string) bool { return strings.HasPrefix(fingerprint, manualPrefix) }

// Outcome is how an attempt ended.
type Outcome struct {
	// State is Sent, Pending (try again at NextAt), Failed or Skipped.
	State string
	Error string
	// Title is that of the message, if one was made.
	Title string
	// NextAt is used with Pending; the zero time means now.
	NextAt time.Time
}

// Summary is until when the summaries of a trigger have come.
type Summary struct {
	// Due is when the last one was due, Event the id of the last event that it took into account.
	Due   time.Time
	Event int64
}
