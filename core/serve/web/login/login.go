package login

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

func (h *Handler) login(w http.ResponseWriter, r *http.Request) {
	user, next := r.PostFormValue("user"), auth.LocalPath(r.PostFormValue("next"))
	p := newLoginPage(h.logins.Strategies(), next)
	p.Keep = r.PostFormValue("keep") != ""
	_, err := h.logins.Login(w, r, user, r.PostFormValue("password"), p.Keep)
	if err == nil || h.needless(p) {
		http.Redirect(w, r, h.Path(cmp.Or(next, "/")), http.StatusSeeOther)
		return
	}
	p.User = user
	var tooMany *auth.ThrottledError
	switch {
	case errors.As(err, &tooMany):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(tooMany.Wait.Seconds()))))
		p.Wrong = phrase.New("Too many wrong logins: try again in %s", words.Elapsed(tooMany.Wait.Round(time.Second)))
		h.render(w, r, http.StatusTooManyRequests, p)
	case errors.Is(err, auth.ErrBadCredentials):
		p.Wrong = phrase.New("Wrong username or password")
		h.render(w, r, http.StatusUnauthorized, p)
	default:
		h.InternalError(w, r, "log somebody in", err)
	}
}

// Refuse renders the login page, which says why a client was not let in.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if !h.Loaded(w) {
		return
	}
	p := newLoginPage(h.logins.Strategies(), "")
	p.Wrong = phrase.Capital(words.Refusal(why))
	h.render(w, r, status, p)
}
