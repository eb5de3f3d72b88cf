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

// count writes "no updates", "1 update", "2 updates".
func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

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

// bytesText writes a size for a reader: 512 bytes, 1.5 kB, 71.0 MB.
func bytesText(n int64) string {
	if n < 1000 {
		return count(int(n), "byte")
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		if size /= 1000; size < 999.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", size, unit)
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
	gap         = 2
	narrowest   = 10 // of a column that is cut
	shortDigest = 12
)
