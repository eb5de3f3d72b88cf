package words

import (
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
)

// Step is the step that a trigger reported, in words: "pull: layer 3 (3 of 10)".
func Step(p dispatch.Progress) string {
	text := p.Phase
	switch {
	case text == "":
		text = p.Message
	case p.Message != "":
		text += ": " + p.Message
	}
	switch {
	case p.Total <= 0:
		return text
	case text == "":
		return fmt.Sprintf("%d of %d", p.Current, p.Total)
	}
	return fmt.Sprintf("%s (%d of %d)", text, p.Current, p.Total)
}

// Delivery says what a delivery is about: "local/nginx", or "3 containers of local".
func Delivery(d delivery.Delivery) string {
	if watcher, batch := strings.CutPrefix(d.Subject, "batch/"); batch && d.Batch {
		return Plural(len(d.Containers), "container") + " of " + watcher
	}
	if d.Subject == "summary" {
		return "a summary"
	}
	if d.Manual {
		return d.Subject + ", asked for by hand"
	}
	return d.Subject
}
