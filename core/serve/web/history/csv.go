package history

import (
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// inert puts an apostrophe before what spreadsheets would calculate: OWASP, "CSV Injection".
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(cell)[0]) {
		return "'" + cell
	}
	return cell
}

func exact(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

var (
	eventColumns    = []string{"id", "time", "type", "subject", "what", "run"}
	deliveryColumns = []string{
		"id", "trigger", "subject", "state", "attempts", "created", "updated", "next", "error",
	}
)

// eventCells returns the row of an event, and its id.
func eventCells(e event.Event) ([]string, int64) {
	what, _ := words.Event(e)
	return []string{strconv.FormatInt(e.ID, 10), exact(e.At), string(e.Type), e.Subject, phrase.English(what), e.Run}, e.ID
}

// deliveryCells returns the row of a delivery, and its id.
func deliveryCells(d delivery.Delivery) ([]string, int64) {
	next := ""
	if d.State == delivery.Pending {
		next = exact(d.NextAt)
	}
	return []string{
		strconv.FormatInt(d.ID, 10), d.Trigger, d.Subject, d.State, strconv.Itoa(d.Attempts), exact(d.CreatedAt),
		exact(d.UpdatedAt), next, d.Error,
	}, d.ID
}
