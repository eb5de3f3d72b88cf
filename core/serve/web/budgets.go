package web

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/internal/budget"
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

// budgetsOf are sentences about budgets that are too small for the next checks, or used up.
func budgetsOf(registries []service.Component) []string {
	var said []string
	for _, r := range registries {
		for _, f := range r.Budgets {
			if f.Spreads() {
				said = append(said, fmt.Sprintf("%s: %s.", f.Host, f))
			}
		}
	}
	return said
}
