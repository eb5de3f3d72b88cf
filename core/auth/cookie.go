package auth

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Cookies belong to a host name whatever the port (RFC 6265, section 8.5), so
// that other programs on the host see ours and we see theirs, those of another
// Dogwatch too. Ours have the port of the server in their names, unless it is
// the one that addresses leave out, and the path under which it is published.
const (
	sessionCookie = "dogwatch_session"
	// keepCookie is what a login page was told to do with the session to come.
	keepCookie = "dogwatch_keep"
	// mostCookies bounds how many of one name are looked at.
	mostCookies = 8
)

// cookieName returns the name under which the browser keeps a cookie of ours.
func (a *Auth) cookieName(r *http.Request, name string) string {
	address := &url.URL{Host: a.host(r)}
	if a.atPublic(r) {
		address = a.opt.Config.PublicURL
	}
	port := address.Port()
	if port == "" || port == "80" || port == "443" || strings.Trim(port, "0123456789") != "" {
		return name
	}
	return name + "_" + port
}

// cookies returns the cookies of a request that may be ours, the likeliest
// first: those without a port are of a time before their names had it.
func (a *Auth) cookies(r *http.Request, name string) []*http.Cookie {
	all := r.CookiesNamed(a.cookieName(r, name))
	if a.cookieName(r, name) != name {
		all = append(all, r.CookiesNamed(name)...)
	}
	all = slices.DeleteFunc(all, func(c *http.Cookie) bool { return c.Value == "" })
	return all[:min(len(all), mostCookies)]
}

// CarriesSession reports whether a request has a session's cookie, be the session over or not.
func (a *Auth) CarriesSession(r *http.Request) bool { return len(a.cookies(r, sessionCookie)) > 0 }

// setCookie gives the browser a cookie that pages cannot read and that other
// sites' requests do not carry. It lasts until the browser is closed with an
// age of 0; a negative one takes it away.
func (a *Auth) setCookie(w http.ResponseWriter, r *http.Request, name, value string, age time.Duration) {
	seconds := int(age / time.Second)
	if age < 0 {
		seconds = -1
	}
	header := w.Header()
	kept := header.Values("Set-Cookie")
	header.Del("Set-Cookie")
	for _, line := range kept { // one line for each cookie (RFC 6265, section 4.1.1)
		if cookie, err := http.ParseSetCookie(line); err != nil || cookie.Name != name {
			header.Add("Set-Cookie", line)
		}
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: a.cookiePath(r), MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: a.secure(r),
	})
}

// cookiePath returns the path below which the browser sends our cookies: that
// of public.url where the browser is there, else the base path.
func (a *Auth) cookiePath(r *http.Request) string {
	path := a.opt.Config.Server.BasePath
	if a.atPublic(r) {
		path = a.opt.Config.PublicURL.EscapedPath()
	}
	return "/" + strings.Trim(path, "/")
}

// atPublic reports whether the browser has addressed the server by the name in
// public.url. Proxies leave one port or the other in Host, so that it says nothing.
func (a *Auth) atPublic(r *http.Request) bool {
	u := a.opt.Config.PublicURL
	return u != nil && strings.EqualFold(u.Hostname(), hostname(a.host(r)))
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// onPlainHTTP reports whether the browser says that its page came without TLS,
// from this host: it would drop a Secure cookie.
func (a *Auth) onPlainHTTP(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Scheme == "http" && strings.EqualFold(origin.Hostname(), hostname(a.host(r)))
}
