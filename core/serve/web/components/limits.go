package components

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// budgetRow is what is known of the requests to a host, in words.
type budgetRow struct {
	budget.Forecast
	Said phrase.Phrase
	// Full is true while no request may be made.
	Full bool
}

func newBudgetRow(f budget.Forecast, now time.Time) budgetRow {
	return budgetRow{Forecast: f, Said: words.Budget(f), Full: f.FullUntil.After(now)}
}

// limitRow is a limit in words.
type limitRow struct {
	registry.Limit
	Sentence phrase.Phrase
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
		row.Sentence = phrase.New("%s of %s requests left", fmt.Sprint(l.Remaining), fmt.Sprint(l.Limit))
		if l.Pulls {
			row.Sentence = phrase.New("%s of %s pulls left", fmt.Sprint(l.Remaining), fmt.Sprint(l.Limit))
		}
		if l.Window > 0 {
			row.Sentence = phrase.New("%s per %s", row.Sentence, words.Span(l.Window))
		}
	default:
		row.Sentence = phrase.New("does not say what it allows")
	}
	return row
}
