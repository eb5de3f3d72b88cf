package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/auth"
)

func TestSessionRoutes(t *testing.T) {
	w := startWithLogin(t, nil)
	own, other := w.session(), w.session()
	ana := []string{"Cookie", own}
	listed := w.get("/api/sessions", ana...).want(200)
	all := listed.list()
	if len(all) != 2 || all[0]["username"] != "ana" || all[0]["method"] != "basic.main" || all[0]["own"] == all[1]["own"] {
		t.Fatalf("%s", listed.body)
	}
	for _, secret := range []string{own, other} {
		if strings.Contains(string(listed.body), secret[strings.Index(secret, "=")+1:]) {
			t.Error("a secret is shown")
		}
	}
	id := all[0]["id"]
	if all[0]["own"] == true {
		id = all[1]["id"]
	}
	path := fmt.Sprint("/api/sessions/", id)
	w.do("DELETE", path, "", append(ana, "Sec-Fetch-Site", "cross-site")...).fails(403, "cross-site")
	w.do("DELETE", path, "", "Authorization", "Bearer "+w.token(auth.Write, time.Time{})).fails(403, "log in")
	w.get("/auth/user", "Cookie", other).want(200)
	w.do("DELETE", path, "", ana...).want(204)
	w.get("/auth/user", "Cookie", other).fails(401)
	w.get("/auth/user", ana...).want(200)
	for _, gone := range []string{path, "/api/sessions/x"} {
		w.do("DELETE", gone, "", ana...).fails(404)
	}
	var by any
	for _, e := range w.get("/api/events", ana...).want(200).list() {
		if e["type"] == "auth.logout" {
			by = e["login"].(map[string]any)["by"]
		}
	}
	same(t, "ended by", by, any("ana"))
}

// TestRememberOfDrydockClients: they say before they log in whether the session is to last.
func TestRememberOfDrydockClients(t *testing.T) {
	w := startWithLogin(t, nil)
	right, port := basic("ana", ownPassword), w.url[strings.LastIndex(w.url, ":")+1:]
	cookies := func(a response) map[string]*http.Cookie {
		found := map[string]*http.Cookie{}
		for _, line := range a.header.Values("Set-Cookie") {
			if c, err := http.ParseSetCookie(line); err == nil {
				name, _, _ := strings.Cut(c.Name, "_"+port)
				found[name] = c
			}
		}
		return found
	}
	same(t, "unasked",
		cookies(w.do("POST", "/auth/login", "", "Authorization", right).want(200))[cookieName].MaxAge > 0, true)
	for body, kept := range map[string]bool{
		`{"remember":true}`: true, `{"remember":false}`: false, `{"remember":"x"}`: true, `[`: true,
	} {
		login := cookies(w.do("POST", "/auth/login", body, "Authorization", right).want(200))
		same(t, "login with "+body, login[cookieName].MaxAge > 0, kept)
	}
	requested := w.do("POST", "/auth/remember", `{"remember":false}`).want(200)
	same(t, "response", requested.object(), map[string]any{"ok": true})
	keepCookie := cookies(requested)["dogwatch_keep"]
	login := cookies(w.do("POST", "/auth/login", "", "Authorization", right, "Cookie",
		keepCookie.Name+"="+keepCookie.Value).want(200))
	same(t, "set before the login", login[cookieName].MaxAge, 0)
	same(t, "the cookie is deleted", login["dogwatch_keep"].MaxAge, -1)
	after := cookies(w.do("POST", "/auth/remember", `{"remember":true}`, "Cookie",
		cookieName+"="+login[cookieName].Value).want(200))
	same(t, "set after the login", after[cookieName].MaxAge > 0, true)
	for _, body := range []string{"", "{}", `{"remember":"yes"}`, `{"remember":null}`, "[]", "x"} {
		w.do("POST", "/auth/remember", body).fails(400, "remember")
	}
	w.do("POST", "/auth/remember", `{"remember":true}`, "Sec-Fetch-Site", "cross-site").fails(403)
}
