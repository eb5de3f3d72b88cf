package auth

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The session cookie and the other cookies of this server. A browser shares
// cookies between all ports of a host (RFC 6265, section 8.5), and so with other
// programs there, such as another Dogwatch. The names therefore have the port of
// the server, unless it is a default port, and the cookies have the path under
// which the server is published.
const (
	sessionCookie = "dogwatch_session"
	// keepCookie is whether the next session outlives the browser, see Auth.Remember.
	keepCookie = "dogwatch_keep"
	// maxCookies bounds how many cookies of one name are read.
	maxCookies = 8
)

// cookieName returns the name of a cookie of this server in the browser.
func (a *Auth) cookieName(r *http.Request, name string) string {
	address := &url.URL{Host: a.requestHost(r)}
	if a.atPublic(r) {
		address = a.opt.Config.PublicURL
	}
	port := address.Port()
	if port == "" || port == "80" || port == "443" || strings.Trim(port, "0123456789") != "" {
		return name
	}
	return name + "_" + port
}

// cookies returns the cookies of a request that may be this server's, the likeliest
// first: names without the port are those of earlier versions.
func (a *Auth) cookies(r *http.Request, name string) []*http.Cookie {
	all := r.CookiesNamed(a.cookieName(r, name))
	if a.cookieName(r, name) != name {
		all = append(all, r.CookiesNamed(name)...)
	}
	all = slices.DeleteFunc(all, func(c *http.Cookie) bool { return c.Value == "" })
	return all[:min(len(all), maxCookies)]
}

// CarriesSession reports whether a request has a session cookie, valid or not.
func (a *Auth) CarriesSession(r *http.Request) bool { return len(a.cookies(r, sessionCookie)) > 0 }

// setCookie sets a cookie that scripts cannot read and that cross-site requests do
// not carry. It lasts until the browser is closed with an age of 0; a negative age
// deletes it.
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
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: a.usesTLS(r),
	})
}

// cookiePath returns the path below which the browser sends the cookies: that of
// public.url if the browser uses it, else the base path.
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
	return u != nil && strings.EqualFold(u.Hostname(), hostname(a.requestHost(r)))
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// onPlainHTTP reports whether the request comes from a page of this host without
// TLS, by its Origin header: the browser would drop a Secure cookie.
func (a *Auth) onPlainHTTP(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Scheme == "http" && strings.EqualFold(origin.Hostname(), hostname(a.requestHost(r)))
}
