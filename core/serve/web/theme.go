package web

import "net/http"

// themeCookie holds the choice of a user who does not want what the system prefers.
const themeCookie = "dogwatch-theme"

// theme returns "light", "dark", or "" for what the system prefers.
func theme(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

func (u *UI) chooseTheme(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) {
		return
	}
	c := &http.Cookie{
		Name: themeCookie, Value: r.PostFormValue("theme"), Path: u.path("/"), MaxAge: 365 * 24 * 3600, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
	if c.Value != "light" && c.Value != "dark" {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, u.path(localPath(r.PostFormValue("back"))), http.StatusSeeOther)
}
