package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// pushView is what a browser needs to subscribe, and what is subscribed.
type pushView struct {
	PublicKey string       `json:"publicKey"`
	Triggers  []string     `json:"triggers"`
	Devices   []deviceView `json:"devices"`
}

// deviceView is a browser that is notified, without the address and the keys of its subscription.
type deviceView struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Username  string   `json:"username"`
	CreatedAt sdk.Time `json:"createdAt"`
	// SentAt is when its push service took a message last; absent for never.
	SentAt sdk.Time `json:"sentAt,omitzero"`
	// Error is why its push service did not take the last message; absent if it did.
	Error string `json:"error,omitempty"`
}

func deviceViewOf(d webpush.Device) deviceView {
	return deviceView{
		ID: d.ID, Name: d.Name, Username: d.User, CreatedAt: sdk.TimeOf(d.Created), SentAt: sdk.TimeOf(d.Sent),
		Error: d.Error,
	}
}

func (h *handler) getPush(w http.ResponseWriter, r *http.Request) {
	p, err := h.Service.Push(r.Context(), h.actor(r))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	v := pushView{PublicKey: p.PublicKey, Triggers: append([]string{}, p.Triggers...), Devices: []deviceView{}}
	for _, d := range p.Devices {
		v.Devices = append(v.Devices, deviceViewOf(d))
	}
	h.respond(w, r, v)
}

// subscribeDevice takes a PushSubscription as its toJSON has it: https://www.w3.org/TR/push-api/#dom-pushsubscriptionjson.
func (h *handler) subscribeDevice(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Endpoint       string `json:"endpoint"`
		ExpirationTime *int64 `json:"expirationTime"` // which push services do not set
		Keys           struct {
			P256dh string `json:"p256dh"`
			Auth   string `json:"auth"`
		} `json:"keys"`
	}
	if _, ok := h.decode(w, r, &body); !ok {
		return
	}
	d, err := h.Service.SubscribeDevice(r.Context(), h.actor(r), r.UserAgent(),
		webpush.Subscription{Endpoint: body.Endpoint, P256dh: body.Keys.P256dh, Auth: body.Keys.Auth})
	if err != nil {
		h.failPush(w, r, err)
		return
	}
	h.respondStatus(w, r, http.StatusCreated, deviceViewOf(d))
}

func (h *handler) removeDevice(w http.ResponseWriter, r *http.Request) {
	if err := h.Service.RemoveDevice(r.Context(), h.actor(r), param(r, "id")); err != nil {
		h.failPush(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) testDevice(w http.ResponseWriter, r *http.Request) {
	err := h.Service.TestDevice(r.Context(), h.actor(r), param(r, "id"))
	known := []error{service.ErrForbidden, service.ErrNotFound, service.ErrNoPush}
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case isAny(err, known):
		h.failPush(w, r, err)
	default: // the push service, or the way to it
		h.fail(w, r, http.StatusBadGateway, err.Error())
	}
}

func (h *handler) failPush(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, service.ErrNoPush):
		h.fail(w, r, http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, webpush.ErrFull):
		h.fail(w, r, http.StatusConflict, err.Error())
	default:
		h.failWith(w, r, notFound(err, "Device not found"))
	}
}

func isAny(err error, kinds []error) bool {
	return slices.ContainsFunc(kinds, func(k error) bool { return errors.Is(err, k) })
}
