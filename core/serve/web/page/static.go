package page

import "net/http"

// AssetPath returns the address of a file.
func (s *Site) AssetPath(file string) string { return s.Path("/static/" + s.assets.names[file]) }

// serveFile responds with the file that the path names.
func (s *Site) serveFile(w http.ResponseWriter, r *http.Request) {
	s.serveAsset(w, r, r.PathValue("file"), "public, max-age=31536000, immutable")
}

// serveFavicon responds with the logo.
func (s *Site) serveFavicon(w http.ResponseWriter, r *http.Request) {
	s.serveAsset(w, r, s.assets.names["logo.svg"], "public, max-age=86400")
}

func (s *Site) serveAsset(w http.ResponseWriter, r *http.Request, name, cache string) {
	a, known := s.assets.byName[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", cache)
	h.Add("Vary", "Accept-Encoding")
	body := a.body
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.packed()
	}
	_, _ = w.Write(body) // the client may have gone
}

// Icon returns the icon for an image; see iconOf.
func (s *Site) Icon(label, image string) string { return iconOf(s.assets.icons, label, image) }
