package webpush

import "strings"

// part is how a word of a User-Agent header is shown.
type part struct{ token, name string }

// The first that a header has counts: browsers name those that they descend from, too.
var (
	browsers = []part{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Vivaldi/", "Vivaldi"},
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = []part{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"},
		{"Macintosh", "macOS"}, {"Linux", "Linux"},
	}
)

// nameOf returns what a device is called, by the User-Agent header of its browser: "Firefox on Android". Nothing of
// the header itself is repeated.
func nameOf(userAgent string) string {
	name := first(browsers, userAgent, "Browser")
	if system := first(systems, userAgent, ""); system != "" {
		name += " on " + system
	}
	return name
}

func first(parts []part, text, otherwise string) string {
	for _, p := range parts {
		if strings.Contains(text, p.token) {
			return p.name
		}
	}
	return otherwise
}
