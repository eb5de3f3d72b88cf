package main

import (
	"strings"
	"unicode/utf8"
)

// clip shortens a text to a width: in the middle, since the ends differ most.
func clip(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// clipImage shortens the name of an image: its last part differs most.
func clipImage(image string, width int) string {
	short := image
	for utf8.RuneCountInString(short) > width {
		_, rest, nested := strings.Cut(strings.TrimPrefix(short, "…/"), "/")
		if !nested {
			return clip(short, width)
		}
		short = "…/" + rest
	}
	return short
}

const arrow = " → "

// brieflyUpdate leaves out what both ends of an update have in common:
// "1.2-alpine → 1.3-alpine" is "1.2 → 1.3-alpine".
func brieflyUpdate(text string) string {
	from, to, _ := strings.Cut(text, arrow)
	at := strings.LastIndex(from, "-")
	if at < 1 || !strings.HasSuffix(to, from[at:]) || len(to) == len(from[at:]) {
		return text
	}
	return from[:at] + arrow + to
}

// clipUpdate shortens an update: by what both ends have in common, and then
// both alike, so that both remain recognisable.
func clipUpdate(text string, width int) string {
	if utf8.RuneCountInString(text) > width {
		text = brieflyUpdate(text)
	}
	from, to, both := strings.Cut(text, arrow)
	if !both || utf8.RuneCountInString(text) <= width {
		return clip(text, width)
	}
	room := width - utf8.RuneCountInString(arrow)
	left := max(room/2, room-utf8.RuneCountInString(to))
	left = min(left, utf8.RuneCountInString(from))
	return clip(from, left) + arrow + clip(to, room-left)
}

// wrap breaks a text into lines of at most width; 0 or less means one line.
func wrap(text string, width int) []string {
	if text == "" {
		return nil
	}
	if width <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for {
			room := width - utf8.RuneCountInString(line)
			if line != "" {
				room--
			}
			if utf8.RuneCountInString(word) <= room {
				break
			}
			if line != "" {
				lines, line = append(lines, line), ""
				continue
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
