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

// brieflyUpdate shortens what all versions of an update end with:
// "1.2-alpine → 1.3-alpine, or 2.0-alpine" is "1.2-… → 1.3-…, or 2.0-…".
func brieflyUpdate(text string) string {
	from, rest, _ := strings.Cut(text, arrow)
	dash := strings.LastIndex(from, "-")
	if dash < 1 || utf8.RuneCountInString(from[dash:]) <= len("-x") {
		return text
	}
	words := strings.Split(rest, " ")
	for i, word := range words {
		version := strings.TrimRight(word, ",;")
		number, same := strings.CutSuffix(version, from[dash:])
		switch {
		case same && number != "":
			words[i] = number + "-…" + word[len(version):]
		case i == 0:
			return text
		}
	}
	return from[:dash] + "-…" + arrow + strings.Join(words, " ")
}

// clipUpdate shortens an update: by what all versions end with, by the other versions, and
// then both ends alike, so that both remain recognisable.
func clipUpdate(text string, width int) string {
	for _, shorter := range []func(string) string{
		brieflyUpdate,
		func(text string) string { text, _, _ = strings.Cut(text, ", or "); return text },
	} {
		if utf8.RuneCountInString(text) > width {
			text = shorter(text)
		}
	}
	from, to, both := strings.Cut(text, arrow)
	if !both || utf8.RuneCountInString(text) <= width {
		return clip(text, width)
	}
	room := width - utf8.RuneCountInString(arrow)
	left, right := utf8.RuneCountInString(from), utf8.RuneCountInString(to)
	switch half := room / 2; {
	case left <= half:
		right = room - left
	case right <= half:
		left = room - right
	default:
		left, right = half, half
	}
	return clip(from, left) + arrow + clip(to, right)
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
