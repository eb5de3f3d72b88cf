package login

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/webaddress"
)

func (h *Handler) logout(w http.ResponseWriter, r *http.Request) {
	elsewhere, err := h.logins.Logout(w, r)
	if err != nil {
		h.InternalError(w, r, "log somebody out", err)
		return
	}
	p := newLoginPage(h.logins.Strategies(), "")
	p.Sentence, p.Elsewhere = phrase.New("You are logged out"), webaddress.Of(elsewhere)
	h.render(w, r, http.StatusOK, p)
}
