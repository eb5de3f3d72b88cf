package page

import (
	"encoding/json"
	"net/http"
)

// manifest is what a browser has to know to install the pages as an app: W3C, "Web Application Manifest".
type manifest struct {
	Name       string         `json:"name"`
	ShortName  string         `json:"short_name"`
	ID         string         `json:"id"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Display    string         `json:"display"`
	Theme      string         `json:"theme_color"`
	Background string         `json:"background_color"`
	Icons      []manifestIcon `json:"icons"`
	Shortcuts  []shortcut     `json:"shortcuts"`
}

type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

type shortcut struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// serveManifest responds with the manifest of the pages. It has no secret and needs no login: browsers ask for it
// without cookies.
func (s *Site) serveManifest(w http.ResponseWriter, _ *http.Request) {
	if !s.Loaded(w) {
		return
	}
	m := manifest{
		Name: "Dogwatch", ShortName: "Dogwatch", ID: s.Path("/"), StartURL: s.Path("/"), Scope: s.Path("/"),
		Display: "standalone", Theme: "#f6f7f8", Background: "#f6f7f8",
		Shortcuts: []shortcut{
			{"Updates", s.Path("/containers?state=updates")}, {"Failures", s.Path("/containers?state=failed")},
		},
	}
	for _, size := range []string{"192", "512"} {
		// The picture keeps to the middle, so that a launcher may cut it to any shape.
		for _, purpose := range []string{"any", "maskable"} {
			m.Icons = append(m.Icons,
				manifestIcon{s.AssetPath("icon-" + size + ".png"), size + "x" + size, "image/png", purpose})
		}
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_ = json.NewEncoder(w).Encode(m) // the client may have gone
}
