package containers

import (
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// sentLine is one delivery.
type sentLine struct {
	ID       int64
	Trigger  string
	Word     phrase.Phrase
	Title    string // of the message
	Failed   bool
	Bad      bool // whether it could not be sent, so far or for good
	At, Next time.Time
	Error    string
}

// sentOf are the deliveries about a container, newest first.
func sentOf(all []delivery.Delivery, c *sdk.Container) []sentLine {
	var lines []sentLine
	for _, d := range all {
		if len(lines) == historyLines || d.Subject != event.Subject(*c) && !slices.Contains(d.Containers, c.ID) {
			continue
		}
		line := sentLine{ID: d.ID, Trigger: d.Trigger, Title: d.Title, At: d.UpdatedAt}
		line.Error = words.Undelivered(d.Trigger, d.Error)
		switch d.State {
		case delivery.Sent:
			line.Word, line.Error = phrase.New("sent"), ""
		case delivery.Failed:
			line.Word, line.Failed = phrase.New("given up after %s", phrase.Count(d.Attempts, "try")), true
			line.Bad = true
		case delivery.Skipped:
			line.Word = phrase.Join(": ", phrase.New("not sent"), words.NotSent(d.Error))
			line.Error = ""
		case delivery.Sending:
			line.Word = phrase.New("being sent")
		default:
			line.Word, line.Next, line.At = phrase.New("to be sent"), d.NextAt, d.CreatedAt
			if d.Error != "" {
				line.Word, line.Bad = phrase.New("not sent yet, next try"), true
			}
		}
		lines = append(lines, line)
	}
	return lines
}
