package web

import (
	"slices"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
)

// addSteps adds the latest steps to the rows of deliveries that are being sent.
func addSteps(rows []deliveryRow, steps []dispatch.Progress) {
	for i := range rows {
		at := slices.IndexFunc(steps, func(p dispatch.Progress) bool { return p.Delivery == rows[i].ID })
		if at < 0 || rows[i].Delivery.State != delivery.Sending {
			continue
		}
		if text := words.Step(steps[at]); text != "" {
			rows[i].Said += ": " + text
		}
	}
}
