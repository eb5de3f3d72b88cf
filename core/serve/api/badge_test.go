package api

import (
	"encoding/hex"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs (-update rewrites it):\n%s", name, got)
	}
}

// wellFormed fails unless a picture is XML of only these elements, and returns its texts.
func wellFormed(t *testing.T, picture []byte) string {
	t.Helper()
	var texts strings.Builder
	d := xml.NewDecoder(strings.NewReader(string(picture)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts.String()
		}
		if err != nil {
			t.Fatalf("%v in %s", err, picture)
		}
		switch part := token.(type) {
		case xml.StartElement:
			if !strings.Contains(" svg title clipPath rect g text ", " "+part.Name.Local+" ") {
				t.Errorf("there is an element %s in %s", part.Name.Local, picture)
			}
			for _, a := range part.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.HasSuffix(a.Name.Local, "href") {
					t.Errorf("there is an attribute %s in %s", a.Name.Local, picture)
				}
			}
		case xml.CharData:
			texts.Write(part)
		}
	}
}

func TestBadge(t *testing.T) {
	w := start(t, nil)
	w.put(everyKind()...)
	got := w.get("/api/badge.svg").want(200)
	golden(t, "badge.svg", got.body)
	same(t, "type", got.header.Get("Content-Type"), "image/svg+xml; charset=utf-8")
	same(t, "caching", got.header.Get("Cache-Control"), "private, max-age=60")
	same(t, "policy", got.header.Get("Content-Security-Policy"), "default-src 'none'")
	w.get("/api/badge.svg", "If-None-Match", got.header.Get("ETag")).want(304)
	same(t, "body of HEAD", len(w.do("HEAD", "/api/badge.svg", "").want(200).body), 0)

	square := w.get("/api/badge.svg?style=flat-square&watcher=local&label=nas").want(200)
	golden(t, "badge-square.svg", square.body)
	same(t, "texts", wellFormed(t, square.body), "nas: 7 updatesnas7 updates\n")

	w.get("/api/badge.svg?style=plastic").fails(400, `want flat or flat-square, got "plastic"`)
	w.get("/api/badge.svg?watcher=nowhere").fails(404, "Watcher not found")
	w.get("/api/badge.svg?label="+strings.Repeat("x", 61)).fails(400, "at most 60 characters")
	w.get("/api/badge.svg?lable=x").fails(400, "did you mean label?")
}

func TestBadgeText(t *testing.T) {
	for _, c := range []struct {
		of           summary
		text, colour string
	}{
		{summary{}, "none", grey},
		{summary{Containers: 2, Unchecked: 2}, "not checked yet", grey},
		{summary{Containers: 2, UpToDate: 1, Unchecked: 1}, "up to date", green},
		{summary{Containers: 2, UpToDate: 1, Failed: 1}, "1 failed", orange},
		{summary{Containers: 2, UpToDate: 1, Unknown: 1}, "up to date, 1 unknown", green},
		{summary{Containers: 1, Unknown: 1}, "1 unknown", grey},
		{summary{Containers: 3, Updates: 1, Digest: 1, Unknown: 2}, "1 update, 2 unknown", blue},
		{summary{Containers: 2, Updates: 1, Digest: 1}, "1 update", blue},
		{summary{Containers: 2, Updates: 1, Held: 1, Stale: 1, UpToDate: 1}, "1 update (1 held), 1 stale", orange},
		{summary{Containers: 2, Postponed: 2}, "2 postponed", grey},
		{summary{Containers: 3, Updates: 3, Minor: 2, Patch: 1}, "3 updates", yellow},
		{summary{Containers: 3, Updates: 2, Minor: 1, Major: 1, Failed: 1}, "2 updates, 1 failed", red},
		{summary{Containers: 3, Updates: 2, Minor: 2, Held: 1}, "2 updates (1 held)", yellow},
		{summary{Containers: 3, Updates: 2, Major: 2, Held: 2}, "2 updates (2 held)", green},
		{summary{Containers: 3, Updates: 1, Major: 1, Held: 1, Failed: 1}, "1 update (1 held), 1 failed", orange},
	} {
		if text, colour := badgeText(c.of); text != c.text || colour != c.colour {
			t.Errorf("%+v is %q in %s, want %q in %s", c.of, text, colour, c.text, c.colour)
		}
	}
}

// TestBadgeEscapesLabel: a label is a text, whatever is in it.
func TestBadgeEscapesLabel(t *testing.T) {
	w := start(t, nil)
	for _, label := range []string{
		`</text><script>alert(1)</script>`, `"onload="alert(1)`, `<!ENTITY x SYSTEM "file:///etc/passwd">&x;`,
		"]]><b/>", "line\nbreak\x00\x1b[31m", "größe 容器 🐕", "\xff\xfe",
	} {
		got := w.get("/api/badge.svg?label=" + url.QueryEscape(label)).want(200)
		wellFormed(t, got.body)
	}
}

// FuzzBadge: every label and message gives a picture.
func FuzzBadge(f *testing.F) {
	f.Add("containers", "3 updates", true)
	f.Add("<&\"'>", "\x00\x80]]>", false)
	f.Fuzz(func(t *testing.T, label, message string, square bool) {
		wellFormed(t, drawBadge(label, message, red, square))
	})
}

// TestBadgeColourContrast: white text on each has enough contrast (WCAG 2.2, 1.4.3, large enough or 4.5 to 1).
func TestBadgeColourContrast(t *testing.T) {
	for _, colour := range []string{red, yellow, blue, green, orange, grey, "#555555"} {
		if got := contrastWithWhite(t, colour); got < 3 {
			t.Errorf("%s: %.2f to 1", colour, got)
		}
	}
}

func contrastWithWhite(t *testing.T, colour string) float64 {
	t.Helper()
	rgb, err := hex.DecodeString(colour[1:])
	if err != nil {
		t.Fatal(err)
	}
	light := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(rgb[i]) / 255
		if c <= 0.04045 {
			light += weight * c / 12.92
		} else {
			light += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 1.05 / (light + 0.05)
}
