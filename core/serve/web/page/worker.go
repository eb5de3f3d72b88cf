package page

import (
	"net/http"
	"strings"
)

// serveWorker responds with the service worker, whose address stays and decides on what it is for: all pages. It has
// no secret and needs no login: browsers look for a newer one while nobody is logged in.
func (s *Site) serveWorker(w http.ResponseWriter, _ *http.Request) {
	if !s.Loaded(w) {
		return
	}
	script := string(s.assets.byName[s.assets.names["sw.js"]].body)
	h := w.Header()
	h.Set("Content-Type", contentType(".js"))
	h.Set("Cache-Control", "no-cache")
	// The client may have gone.
	_, _ = w.Write([]byte(strings.ReplaceAll(script, "{{icon}}", s.AssetPath("icon-192.png"))))
}
