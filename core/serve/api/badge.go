package api

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// badgeAge is for how many seconds a badge may be shown without another request.
	badgeAge = 60
	// longestLabel is in characters.
	longestLabel = 60
	flat         = "flat"
	flatSquare   = "flat-square"
)

// The colours of a badge: updates by their size, failures, up to date, unknown.
const (
	red    = "#d64541"
	yellow = "#b98a00"
	blue   = "#0e76bd"
	green  = "#3c8a1e"
	orange = "#c65a11"
	grey   = "#767676"
)

func (h *handler) badge(w http.ResponseWriter, r *http.Request) {
	given, err := parameters(r, oneOf("watcher", "style", "label"))
	switch {
	case err != nil:
	case given["style"] != "" && given["style"] != flat && given["style"] != flatSquare:
		err = sdk.Invalid("style", "want %s or %s, got %q", flat, flatSquare, given["style"])
	case utf8.RuneCountInString(given["label"]) > longestLabel:
		err = sdk.Invalid("label", "want at most %d characters", longestLabel)
	}
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	counted, known := h.Service.Summary(given["watcher"])
	if !known {
		h.fail(w, r, http.StatusNotFound, "Watcher not found")
		return
	}
	message, colour := badgeText(summaryOf(counted))
	image := drawBadge(cmp.Or(given["label"], "containers"), message, colour, given["style"] == flatSquare)
	w.Header().Set("Cache-Control", fmt.Sprintf("private, max-age=%d", badgeAge))
	// An image that is opened as a page of its own must not load or run anything.
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	h.send(w, r, http.StatusOK, "image/svg+xml; charset=utf-8", image)
}

// badgeText returns a summary in a few words, and the colour of the worst of it. Updates
// that are held are named and need no one.
func badgeText(s summary) (message, colour string) {
	open := s.Updates - s.Held
	switch {
	case open > 0 && s.Major > 0:
		colour = red
	case open > 0 && s.Minor > 0:
		colour = yellow
	case open > 0:
		colour = blue
	case s.Failed > 0 || s.Stale > 0 || s.FailedWatchers > 0:
		colour = orange
	case s.UpToDate > 0 || s.Held > 0:
		colour = green
	default:
		colour = grey
	}
	var parts []string
	if updates := words.Updates(tally.Counts{Updates: s.Updates, Held: s.Held}); updates != nil {
		parts = append(parts, updates.String())
	}
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Failed))
	}
	if s.Stale > 0 {
		parts = append(parts, fmt.Sprintf("%d stale", s.Stale))
	}
	switch {
	case s.FailedWatchers == 1:
		parts = append(parts, "watcher failed")
	case s.FailedWatchers > 1:
		parts = append(parts, fmt.Sprintf("%d watchers failed", s.FailedWatchers))
	}
	switch {
	case len(parts) > 0:
	case s.Containers == 0:
		parts = append(parts, "none")
	case s.UpToDate == 0 && s.Postponed > 0:
		parts = append(parts, fmt.Sprintf("%d postponed", s.Postponed))
	case s.UpToDate > 0:
		parts = append(parts, "up to date")
	case s.Unknown == 0:
		parts = append(parts, "not checked yet")
	}
	if s.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", s.Unknown))
	}
	return strings.Join(parts, ", "), colour
}

// drawBadge draws two texts side by side. Fonts are those of the viewer's system;
// the SVG states the length of each text, so that it fits whatever the font.
func drawBadge(label, message, colour string, square bool) []byte {
	const padding = 6
	left, right := textWidth(label), textWidth(message)
	split := left + 2*padding
	width := split + right + 2*padding
	radius := 3
	if square {
		radius = 0
	}
	var b bytes.Buffer
	title := escapeXML(label + ": " + message)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s">`, width,
		title)
	fmt.Fprintf(&b, `<title>%s</title>`, title)
	fmt.Fprintf(&b, `<clipPath id="r"><rect width="%d" height="20" rx="%d"/></clipPath>`, width, radius)
	fmt.Fprintf(&b,
		`<g clip-path="url(#r)"><rect width="%d" height="20" fill="#555"/><rect x="%d" width="%d" height="20" fill="%s"/></g>`, split, split, width-split, colour)
	b.WriteString(`<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">`)
	for _, part := range []struct {
		text     string
		x, width int
	}{{label, padding, left}, {message, split + padding, right}} {
		fmt.Fprintf(&b, `<text x="%d" y="14" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`, part.x,
			part.width, escapeXML(part.text))
	}
	b.WriteString("</g></svg>\n")
	return b.Bytes()
}

// escapeXML makes any text fit for content and attributes; what XML cannot hold is replaced.
func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

// textWidth estimates the width of a text in pixels: Verdana of 11 pixels, by classes of letters.
func textWidth(text string) int {
	tenths := 0
	for _, c := range text {
		switch {
		case strings.ContainsRune("ijlI!|'.,:; ", c):
			tenths += 38
		case strings.ContainsRune("frt()[]-/\"", c):
			tenths += 46
		case strings.ContainsRune("mwMW@%", c):
			tenths += 104
		case c >= 'A' && c <= 'Z':
			tenths += 77
		case c < 0x2e80:
			tenths += 66
		default: // scripts whose letters are as wide as high, and pictures
			tenths += 110
		}
	}
	return (tenths + 9) / 10
}
