package page

import (
	"net/http"
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
	c := &http.Cookie{
		Name: themeCookie, Value: r.PostFormValue("theme"), Path: s.Path("/"), MaxAge: 365 * 24 * 3600, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
	if c.Value != "light" && c.Value != "dark" {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, s.Path(LocalPath(r.PostFormValue("back"))), http.StatusSeeOther)
}
