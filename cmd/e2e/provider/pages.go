package main

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/token/jwt"
)

const cookieName = "provider_session"

type user struct {
	password string
	groups   []string
}

var users = map[string]user{
	"ana": {"ana at the provider", []string{"staff", "admins"}},
	"bob": {"bob at the provider", []string{"guests"}},
}

func (u user) claims(name string) map[string]any {
	return map[string]any{
		"email": name + "@example.org", "email_verified": true, "preferred_username": name, "groups": u.groups,
	}
}

var loginPage = template.Must(template.New("login").Parse(`<!doctype html><link rel="icon" href="data:,"><title>Provider</title><h1>Who are you?</h1>{{with .}}<p>{{.}}</p>{{end}}
<form method="post"><input name="user" autofocus><input name="password" type="password"><button>Sign in</button></form>`))

var logoutPage = template.Must(template.New("logout").Parse(`<!doctype html><link rel="icon" href="data:,"><title>Provider</title><h1>Sign out of everything?</h1>
<form method="post"><button>Sign out</button></form>`))

// authorize shows the login page unless the user is known, and redirects back with a code.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	request, err := p.oauth.NewAuthorizeRequest(ctx, r)
	if err != nil {
		p.oauth.WriteAuthorizeError(ctx, w, request, err)
		return
	}
	name, wrong := p.who(w, r)
	if name == "" {
		show(w, loginPage, wrong)
		return
	}
	for _, scope := range request.GetRequestedScopes() {
		request.GrantScope(scope)
	}
	now := time.Now().UTC()
	response, err := p.oauth.NewAuthorizeResponse(ctx, request, &openid.DefaultSession{
		Subject: name, Headers: &jwt.Headers{},
		Claims: &jwt.IDTokenClaims{Subject: name, AuthTime: now, RequestedAt: now, Extra: users[name].claims(name)},
	})
	if err != nil {
		p.oauth.WriteAuthorizeError(ctx, w, request, err)
		return
	}
	p.oauth.WriteAuthorizeResponse(ctx, w, request, response)
}

// who returns the user of a request, "" when that is not known, and what was wrong with a login.
func (p *provider) who(w http.ResponseWriter, r *http.Request) (name, wrong string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodPost {
		name := r.PostFormValue("user")
		if u, known := users[name]; !known || u.password != r.PostFormValue("password") {
			return "", "Wrong user or password"
		}
		id := rand.Text()
		p.sessions[id] = name
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: id, Path: "/", HttpOnly: true})
		return name, ""
	}
	if c, err := r.Cookie(cookieName); err == nil {
		return p.sessions[c.Value], ""
	}
	return "", ""
}

// logout ends the session here, if its user wants that, and redirects to
// where the client asks for (OpenID Connect RP-Initiated Logout 1.0).
func (p *provider) logout(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	back := r.URL.Query().Get("post_logout_redirect_uri")
	if back != "" && (r.URL.Query().Get("client_id") != p.client.ID || !p.mayReturn(back)) {
		http.Error(w, "post_logout_redirect_uri is not that of a client", http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost {
		show(w, logoutPage, "")
		return
	}
	if c, err := r.Cookie(cookieName); err == nil {
		delete(p.sessions, c.Value)
	}
	if back == "" {
		_, _ = w.Write([]byte("Signed out"))
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}

func (p *provider) mayReturn(to string) bool {
	u, err := url.Parse(to)
	return err == nil && fosite.IsValidRedirectURI(u) && slices.Contains(p.client.RedirectURIs, to)
}

func show(w http.ResponseWriter, page *template.Template, with string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, with) // the client has left
}
