package page

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/language"
)

// themeCookie holds the choice of a user who does not want what the system prefers.
const themeCookie = "dogwatch-theme"

// Theme returns "light", "dark", or "" for what the system prefers.
func Theme(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// chooseTheme keeps the colours that a form says in a cookie.
func (s *Site) chooseTheme(w http.ResponseWriter, r *http.Request) {
	theme := r.PostFormValue("theme")
	s.keepChoice(w, r, themeCookie, theme, theme == "light" || theme == "dark")
}

// chooseLanguage keeps the language that a form says in a cookie.
func (s *Site) chooseLanguage(w http.ResponseWriter, r *http.Request) {
	tag := r.PostFormValue("language")
	s.keepChoice(w, r, language.Cookie, tag, s.Languages.Named(tag) != nil)
}

// keepChoice keeps what a user chose for a browser in a cookie for a year, and leads back to the page. Without a
// choice that is known, what the browser prefers counts again.
func (s *Site) keepChoice(w http.ResponseWriter, r *http.Request, cookie, value string, known bool) {
	c := &http.Cookie{
		Name: cookie, Value: value, Path: s.Path("/"), MaxAge: 365 * 24 * 3600, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
	if !known {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, s.Path(LocalPath(r.PostFormValue("back"))), http.StatusSeeOther)
}
