package mqtt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// The keys that say that a container is being updated, and how far that is, as Home
// Assistant has them.
const (
	inProgress = "in_progress"
	percentage = "update_percentage"
	// summaryKey says what is decided about an update that is not simply offered.
	summaryKey = "release_summary"
	// failureKey says why the last press of Install did not work.
	failureKey = "install_error"
	// maxSummary is how long Home Assistant lets that be, in characters.
	maxSummary = 255
)

// work is whether a container is being updated.
type work struct {
	busy bool
	// percent is how far that is; below 0 when it is not known.
	percent int
	// failed is why the last Install did not work; "" when it did.
	failed string
}

// idle is the work of a container that is left alone.
var idle = work{percent: -1}

// state is what is published of a container: its flat form as one JSON object.
// When it was checked is left out: that alone is no change.
func state(c sdk.Container, exclude []string, w work) []byte {
	flat := slices.DeleteFunc(c.Flatten(), func(f sdk.Flat) bool {
		return f.Key == "check_at" || excluded(f.Key, exclude)
	})
	if w.busy {
		flat = append(flat, sdk.Flat{Key: inProgress, Value: true})
		if w.percent >= 0 {
			flat = append(flat, sdk.Flat{Key: percentage, Value: w.percent})
		}
	}
	if w.failed != "" && !excluded(failureKey, exclude) {
		flat = append(flat, sdk.Flat{Key: failureKey, Value: summarized(w.failed)})
	}
	summary := decided(c)
	if w.failed != "" {
		summary = summarized("Install failed: " + w.failed)
	}
	if summary != "" && !excluded(summaryKey, exclude) {
		flat = append(flat, sdk.Flat{Key: summaryKey, Value: summary})
	}
	var b bytes.Buffer
	values := json.NewEncoder(&b)
	values.SetEscapeHTML(false)
	write := func(v any) {
		if err := values.Encode(v); err != nil {
			panic("encode the state of a container: " + err.Error()) // texts, numbers and truths always have a JSON form
		}
		b.Truncate(b.Len() - 1) // the newline
	}
	b.WriteByte('{')
	for i, f := range flat {
		if i > 0 {
			b.WriteByte(',')
		}
		write(f.Key)
		b.WriteByte(':')
		write(f.Value)
	}
	b.WriteByte('}')
	return bytes.Clone(b.Bytes()) // without the buffer's spare room, as it is kept
}

// decided says what is decided about the update of a container: why it is held and until when, or who
// carries it out; or why it is not known whether there is one. It is empty for one that is simply offered.
func decided(c sdk.Container) string {
	if c.Check.State == sdk.CheckUnknown && !c.UpdateAvailable {
		return summarized("Not known whether there is anything newer: " + c.Check.Reason)
	}
	if c.Base != nil && c.UpdateAvailable && c.Result != nil {
		return summarized("Base image " + c.Base.Name + ":" + c.Base.Tag.Value + " → " + c.Result.Tag + "; rebuild")
	}
	d := c.Decision
	if d == nil || !c.UpdateAvailable {
		return ""
	}
	var text string
	switch {
	case d.State == sdk.StateHeld:
		text = "Held"
	case d.State == sdk.StateAutomatic:
		text = "Updated by rule"
	case slices.ContainsFunc(d.Reasons, func(r sdk.Reason) bool { return r.Code == sdk.ReasonApproval }):
		text = "Waits for approval"
	default:
		return ""
	}
	for i, r := range d.Reasons {
		if r.Code == sdk.ReasonApproval {
			continue
		}
		text += map[bool]string{true: ": ", false: "; "}[i == 0] + r.Text
		if !r.Until.IsZero() {
			text += ", until " + r.Until.Local().Format("Mon 2 Jan 2006 15:04")
		}
	}
	return summarized(text)
}

// summarized returns a text as far as Home Assistant takes it for a summary.
func summarized(text string) string {
	if runes := []rune(text); len(runes) > maxSummary {
		text = string(runes[:maxSummary-1]) + "…"
	}
	return text
}

func excluded(key string, exclude []string) bool {
	return slices.ContainsFunc(exclude, func(e string) bool {
		prefix, any := strings.CutSuffix(e, "*")
		return key == e || any && strings.HasPrefix(key, prefix)
	})
}
