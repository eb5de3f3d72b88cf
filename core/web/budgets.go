package web

import (
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/budget"
	"github.com/dogwatch/dogwatch/core/service"
)

// budgetRow is what is known of the requests to a host, in words.
type budgetRow struct {
	budget.Forecast
	// Brief is the beginning of Said: how many were made.
	Brief, Said string
	// Full is true while no request may be made.
	Full bool
}

func newBudgetRow(f budget.Forecast, now time.Time) budgetRow {
	row := budgetRow{Forecast: f, Full: f.FullUntil.After(now)}
	if f.Allowance.Requests == 0 {
		row.Brief = plural(f.Used, "request") + " in the last hour"
		row.Said = fmt.Sprintf("%s; the next checks make up to %d; no budget is set", row.Brief, f.Next)
		return row
	}
	row.Brief = fmt.Sprintf("%d of %s used", f.Used, f.Allowance)
	row.Said = fmt.Sprintf("%s; the next checks make up to %d", row.Brief, f.Next)
	if f.Spreads() {
		row.Said += fmt.Sprintf(", of which %d are left for later ones", f.Next-f.Left())
	}
	return row
}

// budgetsOf are sentences about budgets that are too small for the next checks, or used up.
func budgetsOf(registries []service.Component, now time.Time) []string {
	var said []string
	for _, r := range registries {
		for _, f := range r.Budgets {
			if f.Spreads() {
				said = append(said, fmt.Sprintf("%s: %s.", f.Host, newBudgetRow(f, now).Said))
			}
		}
	}
	return said
}
