package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// enumerate writes "a, b and c".
func enumerate(words []string) string {
	switch len(words) {
	case 0:
		return "none"
	case 1:
		return words[0]
	}
	text := ""
	for i, w := range words {
		switch {
		case i == len(words)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += w
	}
	return text
}

// nearest returns the words behind a wrong name: what was probably meant.
func nearest(name string, known []string) string {
	if near := option.Suggest(name, known); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

func lines[T any](all []T, text func(T) string) []string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = text(v)
	}
	return texts
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// printable replaces what could break a line or a terminal: names and errors come from elsewhere.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if visible.Hidden(c) || !unicode.IsPrint(c) && c != ' ' {
			return '?'
		}
		return c
	}, text)
}

const (
	gap       = 2
	narrowest = 10 // of a column that is cut
)
