package components

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// budgetRow is what is known of the requests to a host, in words.
type budgetRow struct {
	budget.Forecast
	// Full is true while no request may be made.
	Full bool
}

func newBudgetRow(f budget.Forecast, now time.Time) budgetRow {
	return budgetRow{Forecast: f, Full: f.FullUntil.After(now)}
}

// limitRow is a limit in words.
type limitRow struct {
	registry.Limit
	Sentence string
	// Paused is true while no request may be sent to the host.
	Paused bool
	// Low is true when less than LowMark, a fifth, is left.
	Low     bool
	LowMark int64
}

func NewLimitRow(l registry.Limit, now time.Time) limitRow {
	row := limitRow{Limit: l, Paused: l.PausedUntil.After(now)}
	switch {
	case l.Limit > 0:
		row.LowMark = l.Limit / 5
		row.Low = l.Remaining < row.LowMark
		what := "requests"
		if l.Pulls {
			what = "pulls"
		}
		row.Sentence = fmt.Sprintf("%d of %d %s left", l.Remaining, l.Limit, what)
		if l.Window > 0 {
			row.Sentence += " per " + words.Span(l.Window).String()
		}
	default:
		row.Sentence = "does not say what it allows"
	}
	return row
}
