package api

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// receiveWebhook takes in what a registry or CI sends. The secret of the webhook stands for a login.
func (h *handler) receiveWebhook(w http.ResponseWriter, r *http.Request) {
	body, allowed := h.readWebhook(w, r)
	if !allowed {
		return
	}
	receipt, err := h.Service.ReceiveWebhook(chi.URLParam(r, "name"), r.Header, r.URL.Query().Get("token"), body)
	switch {
	case err != nil:
		h.failWebhook(w, r, err)
	case receipt.State == webhook.Waiting:
		h.respondStatus(w, r, http.StatusAccepted, receipt)
	default:
		h.respond(w, r, receipt)
	}
}

// checkByWebhook checks what a request of CI names, and responds with what was found.
func (h *handler) checkByWebhook(w http.ResponseWriter, r *http.Request) {
	body, allowed := h.readWebhook(w, r)
	if !allowed {
		return
	}
	results, err := h.Service.CheckByWebhook(r.Context(), chi.URLParam(r, "name"), r.Header, r.URL.Query().Get("token"),
		body)
	if err != nil {
		h.failWebhook(w, r, err)
		return
	}
	h.respond(w, r, results)
}

// readWebhook returns the body of a request that may try a secret. Otherwise it responds and returns false.
func (h *handler) readWebhook(w http.ResponseWriter, r *http.Request) (body []byte, allowed bool) {
	if wait := h.wrongSecrets.Wait(h.actor(r).Address, h.Now()); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		h.fail(w, r, http.StatusTooManyRequests,
			"too many wrong secrets came from this network; wait, and correct the secret of the sender")
		return nil, false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.failWith(w, r, err)
		return nil, false
	}
	return body, true
}

func (h *handler) listWebhooks(w http.ResponseWriter, r *http.Request) {
	h.respond(w, r, h.Service.Webhooks())
}

func (h *handler) failWebhook(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, webhook.ErrSecret):
		h.wrongSecrets.Wrong(h.actor(r).Address, h.Now())
		w.Header().Set("WWW-Authenticate", "Bearer")
		h.fail(w, r, http.StatusUnauthorized, err.Error())
	case errors.Is(err, webhook.ErrMalformed):
		h.fail(w, r, http.StatusBadRequest, err.Error())
	case errors.Is(err, webhook.ErrBusy):
		w.Header().Set("Retry-After", strconv.Itoa(int(webhook.RetryAfter.Seconds())))
		h.fail(w, r, http.StatusTooManyRequests, err.Error())
	default:
		h.failWith(w, r, err)
	}
}
