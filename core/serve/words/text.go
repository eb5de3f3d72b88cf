// Package words says things of the domain in plain sentences: events, operations, deliveries, decisions, images, counts
// and times. Its functions are pure. Pages and the command line share them, so that each sentence stands once.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Joined joins the parts that are not empty.
func Joined(separator string, parts ...string) string {
	var text string
	for _, part := range parts {
		if part != "" && text != "" {
			text += separator
		}
		text += part
	}
	return text
}

// Capital begins a message as a sentence does.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Sentence makes a sentence of an error, whose first word may be a name.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
