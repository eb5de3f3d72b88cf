package pushover

import (
	"html"
	"strings"
)

// plainTags are the tags that Pushover shows and that have no attributes, and all that end.
// https://pushover.net/api#html
var plainTags = []string{"<b>", "</b>", "<i>", "</i>", "<u>", "</u>", "</font>", "</a>"}

// escape makes HTML of a text in which only the tags are HTML that Pushover
// knows: names, tags and links of containers appear as they are.
func escape(text string) string {
	var b strings.Builder
	for text != "" {
		plain := strings.IndexByte(text, '<')
		if plain < 0 {
			plain = len(text)
		}
		b.WriteString(html.EscapeString(text[:plain]))
		text = text[plain:]
		if tag := leadingTag(text); tag != "" {
			b.WriteString(strings.ReplaceAll(tag, "&", "&amp;"))
			text = text[len(tag):]
		} else if text != "" {
			b.WriteString("&lt;")
			text = text[1:]
		}
	}
	return b.String()
}

// leadingTag returns the known tag that a text starts with, "" when there is none.
func leadingTag(text string) string {
	for _, tag := range plainTags {
		if strings.HasPrefix(text, tag) {
			return tag
		}
	}
	for _, start := range []string{`<a href="http://`, `<a href="https://`, `<font color="`} {
		rest, found := strings.CutPrefix(text, start)
		if !found {
			continue
		}
		end := strings.IndexAny(rest, "\"<>\n")
		if end > 0 && strings.HasPrefix(rest[end:], `">`) {
			return text[:len(start)+end+len(`">`)]
		}
	}
	return ""
}
