package web

import (
	"fmt"

	"github.com/dogwatch/dogwatch/core/serve/service"
)

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
