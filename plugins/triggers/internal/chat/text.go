// Package chat is what the triggers of chat services have in common: the texts
// of a delivery in a form that services take, cut to their limits, and errors
// that say what a service says when it refuses.
package chat

import (
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// MaxTitle is how many characters a title has at most. It leaves the limits of services to the body.
	MaxTitle = 250
	// maxBodyBytes is more than any service takes: what is cut to a limit has a bound before.
	maxBodyBytes = 128 << 10
	// nothing is sent in place of no text at all, which services refuse.
	nothing = "(no text)"
)

// Message is the title and the body of a delivery. The title is one line and
// may be empty. In the body, lines end with "\n". Neither has control
// characters, which services refuse or store badly, nor invalid UTF-8. One of
// them is not empty.
type Message struct{ Title, Body string }

// Of returns the message of a delivery; without its title when untitled.
func Of(req trigger.Request, untitled bool) Message {
	m := Message{Body: FitBytes(strings.TrimSpace(printable(req.Body)), maxBodyBytes)}
	if !untitled {
		m.Title, _ = httpclient.Truncate(strings.Join(strings.Fields(printable(req.Title)), " "), MaxTitle)
	}
	if m.Title == "" && m.Body == "" {
		m.Body = nothing
	}
	return m
}

// printable drops control characters other than line ends and tabs.
func printable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, text)
}

// Join puts an empty line between a title and a body, if there are both.
func Join(title, body string) string {
	if title == "" || body == "" {
		return title + body
	}
	return title + "\n\n" + body
}

// Wrap puts marks before and after text, unless it is empty.
func Wrap(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

// Text is the message with its title between marks and with links below, its body as long as limit allows; escape
// writes each of both texts as the service reads it. A cut falls between two characters of the body, not inside of
// what one of them is written as.
func (m Message) Text(mark string, escape func(string) string, links string, limit int) string {
	title := Wrap(mark, escape(m.Title), mark)
	render := func(body string) string { return Join(title, escape(body)) + links }
	return render(Fit(m.Body, func(body string) bool { return Units(render(body)) <= limit }))
}

// Plain is for Text of a service that reads texts as they are.
func Plain(text string) string { return text }

// Units is the length of text in UTF-16 code units. Services that count
// characters mean these, or fewer.
func Units(text string) int {
	n := 0
	for _, c := range text {
		if n++; c > 0xFFFF {
			n++
		}
	}
	return n
}
