package main

import (
	"strings"
	"unicode/utf8"
)

// clip shortens a text to a width: in the middle, for the ends tell more.
func clip(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// clipUpdate shortens both ends of an update alike, so that both can be told.
func clipUpdate(text string, width int) string {
	const arrow = " → "
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
