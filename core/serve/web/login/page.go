package login

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// loginPage has the user log in.
type loginPage struct {
	Theme string
	// Wrong says why a client was not let in, Sentence that all is well.
	Wrong, Sentence phrase.Phrase
	// Elsewhere is where to log out of the provider. The page goes there at once: a
	// redirect would be the response to a form, which may not lead to other sites.
	Elsewhere string
	User      string
	// Keep is whether the session is to outlive the browser's being closed.
	Keep bool
	// Next is where to go afterwards.
	Next string
	// Password is whether there are users with a password.
	Password  bool
	Providers []loginProvider
}

type loginProvider struct{ Name, Path string }

func newLoginPage(strategies []auth.Strategy, next string) loginPage {
	p := loginPage{Next: next, Keep: true}
	for _, s := range strategies {
		switch s.Type {
		case "basic":
			p.Password = true
		case "oidc":
			to := auth.ProviderURL(s.Name)
			if next != "" {
				to += "?" + url.Values{"next": {next}}.Encode()
			}
			p.Providers = append(p.Providers, loginProvider{Name: s.Name, Path: to})
		}
	}
	return p
}

// straight returns where the login page sends users at once; "" for nowhere.
func straight(strategies []auth.Strategy, p loginPage) string {
	for _, s := range strategies {
		if s.Type == "oidc" && s.Redirect && len(p.Providers) == 1 {
			return p.Providers[0].Path
		}
	}
	return ""
}

// needless reports whether there is nothing to log in to.
func (h *Handler) needless(p loginPage) bool {
	return h.logins.Open() && !p.Password && len(p.Providers) == 0
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	next := auth.LocalPath(r.URL.Query().Get("next"))
	strategies := h.logins.Strategies()
	p := newLoginPage(strategies, next)
	if h.needless(p) {
		http.Redirect(w, r, h.Path(cmp.Or(next, "/")), http.StatusSeeOther)
		return
	}
	if to := straight(strategies, p); to != "" && !r.URL.Query().Has("stay") {
		http.Redirect(w, r, h.Path(to), http.StatusSeeOther)
		return
	}
	h.render(w, r, http.StatusOK, p)
}

func (h *Handler) render(w http.ResponseWriter, r *http.Request, status int, p loginPage) {
	p.Theme = page.Theme(r)
	h.Render(w, r, status, "login", "login.html", p)
}
