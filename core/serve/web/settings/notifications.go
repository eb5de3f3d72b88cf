package settings

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// notificationsPage turns the notifications of a browser on, and lists the devices that have them.
type notificationsPage struct {
	PublicKey string
	Triggers  []string
	Rows      []webpush.Device
	// Snippet is what to paste where no trigger notifies devices.
	Snippet service.Snippet
	// Failed are triggers that would notify them, and do not work.
	Failed []failedTrigger
}

// failedTrigger is a trigger that does not work, and its page.
type failedTrigger struct{ ID, Path string }

// webPushSnippet is a trigger that notifies devices.
var webPushSnippet = service.Snippet{
	YAML: "trigger:\n  webpush:\n    devices:\n      subject: mailto:you@example.org\n",
	Env:  "DOGWATCH_TRIGGER_WEBPUSH_DEVICES_SUBJECT=mailto:you@example.org\n",
}

// showNotifications shows the devices.
func (h *Handler) showNotifications(w http.ResponseWriter, r *http.Request) {
	p, err := h.service.Push(r.Context(), h.ActorOf(r))
	if err != nil {
		h.Finish(w, r, err, "read the devices", "", forbidden)
		return
	}
	h.Show(w, r, http.StatusOK, "notifications", page.Page{
		Title: phrase.New("Notifications on this device"), Nav: "settings",
		Content: notificationsPage{p.PublicKey, p.Triggers, p.Devices, webPushSnippet, h.failedPush(r)},
	})
}

// failedPush returns the triggers for devices that do not work.
func (h *Handler) failedPush(r *http.Request) (failed []failedTrigger) {
	for _, c := range h.service.Components(h.ActorOf(r), kind.Trigger) {
		if c.Type == "webpush" && c.State == component.Failed {
			failed = append(failed, failedTrigger{c.ID, page.ComponentPath(c)})
		}
	}
	return failed
}

// deviceGone is for a device that was removed meanwhile.
var deviceGone = page.Failure{Err: service.ErrNotFound, Problem: page.Problem{
	Title:  phrase.New("There is no such device"),
	Detail: phrase.New("Somebody may have removed it, or its browser has ended the subscription."),
	Back:   phrase.New("Go to notifications"), BackTo: "/settings/notifications",
}}

func (h *Handler) removeDevice(w http.ResponseWriter, r *http.Request) {
	err := h.service.RemoveDevice(r.Context(), h.ActorOf(r), r.PathValue("id"))
	h.Finish(w, r, err, "remove a device", "/settings/notifications", forbidden, deviceGone)
}

// notNotified shows what the push service of a device says: it is how the operator finds the fault.
var notNotified = page.Failure{Problem: page.Problem{
	Title: phrase.New("The device could not be notified"),
	Back:  phrase.New("Go to notifications"), BackTo: "/settings/notifications",
}}

func (h *Handler) testDevice(w http.ResponseWriter, r *http.Request) {
	err := h.service.TestDevice(r.Context(), h.ActorOf(r), r.PathValue("id"))
	h.Finish(w, r, err, "notify a device", "/settings/notifications", forbidden, deviceGone, notNotified)
}
