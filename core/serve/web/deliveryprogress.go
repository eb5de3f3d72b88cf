package web

import (
	"net/http"
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

// tasksView is what pages show of the tasks: a running one with the latest step of its trigger.
func (u *UI) tasksView(r *http.Request) tasksView {
	v := u.tasks.view()
	if !u.mayChoose(r) {
		for i := range v.Tasks {
			v.Tasks[i].Undo = nil
		}
	}
	if !v.Running {
		return v
	}
	steps := u.Service.DeliveryProgress()
	for i := range v.Tasks {
		t := &v.Tasks[i]
		for _, p := range steps {
			if t.Running() && p.Manual && p.Trigger == t.trigger && slices.Contains(t.subjects, p.Subject) {
				t.Step = words.Step(p)
			}
		}
	}
	return v
}
