package registrysim

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// tokenScope is what a token allows.
type tokenScope struct {
	repos   map[string]bool
	every   bool
	user    bool
	expires time.Time
}

// allows reports whether a repository may be read.
func (s tokenScope) allows(repo string, private bool) bool {
	return s.repos[repo] || s.every && (!private || s.user)
}

// user checks the credentials of a request; given is false when it has none.
func (r *Registry) user(req *http.Request) (given, right bool) {
	name, password, given := req.BasicAuth()
	want, known := r.options.Users[name]
	return given, given && known && password == want
}

func (r *Registry) private(repo string) bool {
	return r.options.Private != nil && r.options.Private(repo)
}

// giveToken is the token service.
func (r *Registry) giveToken(w http.ResponseWriter, req *http.Request) {
	given, right := r.user(req)
	if given && !right {
		writeJSON(w, http.StatusUnauthorized, map[string]string{"details": "incorrect username or password"})
		return
	}
	scopes := req.URL.Query()["scope"]
	switch {
	case r.options.Scopes == OneScope && len(scopes) > 1:
		refuse(w, http.StatusBadRequest, "DENIED", "one scope at a time")
		return
	case r.options.Scopes == FirstScope && len(scopes) > 1:
		scopes = scopes[:1]
	}
	allowed := tokenScope{
		repos: map[string]bool{}, every: r.options.Scopes == EveryTarget, user: right,
		expires: time.Now().Add(r.options.TokenLife),
	}
	for _, scope := range scopes {
		name, actions, ok := splitScope(scope)
		if ok && strings.Contains(actions, "pull") && (right || !r.private(name)) {
			allowed.repos[name] = true
		}
	}
	r.mu.Lock()
	value := fmt.Sprintf("sim-token-%d", len(r.tokens)+r.counts.Tokens)
	r.tokens[value] = allowed
	r.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"token": value, "expires_in": int(r.options.TokenLife.Seconds())})
}

// splitScope reads "repository:library/nginx:pull".
func splitScope(scope string) (name, actions string, ok bool) {
	rest, ok := strings.CutPrefix(scope, "repository:")
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return "", "", false
	}
	return rest[:i], rest[i+1:], true
}

// admit reports whether a request is authorized; else it responds with the challenge.
func (r *Registry) admit(w http.ResponseWriter, req *http.Request, repo string) bool {
	switch r.options.Auth {
	case Basic:
		if _, right := r.user(req); right {
			return true
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="sim"`)
	case Token:
		if value, bearer := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); bearer {
			r.mu.Lock()
			g, known := r.tokens[value]
			r.mu.Unlock()
			if known && time.Now().Before(g.expires) && (repo == "" || g.allows(repo, r.private(repo))) {
				return true
			}
		}
		realm := cmp.Or(r.options.Realm, "http://"+req.Host+"/token")
		demand := fmt.Sprintf(`Bearer realm=%q,service=%q`, realm, r.options.Service)
		if repo != "" {
			demand += fmt.Sprintf(`,scope="repository:%s:pull"`, repo)
		}
		w.Header().Set("WWW-Authenticate", demand)
	default:
		return true
	}
	refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
	return false
}
