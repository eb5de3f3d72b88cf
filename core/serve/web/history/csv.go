package history

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// table writes CSV (RFC 4180) whose cells no spreadsheet takes for a formula.
type table struct{ w *csv.Writer }

func newTable(w io.Writer, head ...string) table {
	t := table{csv.NewWriter(w)}
	t.w.UseCRLF = true
	t.row(head...)
	return t
}

func (t table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = inert(c)
	}
	_ = t.w.Write(cells) // the writer keeps its error for end
}

func (t table) end() error {
	t.w.Flush()
	return t.w.Error()
}

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

func eventTable(w io.Writer) table {
	return newTable(w, "id", "time", "type", "subject", "what", "run")
}

func (t table) event(e event.Event) {
	said, _ := words.Event(e)
	t.row(strconv.FormatInt(e.ID, 10), exact(e.At), string(e.Type), e.Subject, said, e.Run)
}

func deliveryTable(w io.Writer) table {
	return newTable(w, "id", "trigger", "subject", "state", "attempts", "created", "updated", "next", "error")
}

func (t table) delivery(d delivery.Delivery) {
	next := ""
	if d.State == delivery.Pending {
		next = exact(d.NextAt)
	}
	t.row(strconv.FormatInt(d.ID, 10), d.Trigger, d.Subject, d.State, strconv.Itoa(d.Attempts), exact(d.CreatedAt),
		exact(d.UpdatedAt), next, d.Error)
}
