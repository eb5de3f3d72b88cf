package logging

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/internal/visible"
)

// Names, labels, tags and the errors of other programs are written by others:
// a line feed in one would begin a line that looks like an entry of its own, an
// escape sequence would command the terminal (ECMA-48; U+009B begins one, too),
// and a bidirectional control (Unicode, UAX #9) would show text in another order.

// Sanitize returns text as it can be shown on a terminal: what is neither
// graphic nor a line feed or tab is written as an escape, \u001b. It may be used
// on texts of several lines; bytes that are no UTF-8 become U+FFFD.
func Sanitize(text string) string {
	if strings.IndexFunc(text, mustEscape) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch high, low := utf16.EncodeRune(c); {
		case !mustEscape(c):
			b.WriteRune(c)
		case c == utf8.RuneError:
			b.WriteRune(utf8.RuneError)
		case high == unicode.ReplacementChar:
			fmt.Fprintf(&b, `\u%04x`, c)
		default: // as JSON spells it, RFC 8259 section 7
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

// mustEscape reports whether Sanitize replaces c, or the invalid byte that c stands for.
func mustEscape(c rune) bool {
	return c != '\n' && c != '\t' && (!unicode.IsGraphic(c) || visible.Hidden(c)) || c == utf8.RuneError
}

// entryWriter passes entries on to a log that users read and programs split
// into lines. Each Write is one entry. The entry's own lines after the first
// are indented, so that only an entry begins at the beginning of a line; it has
// none in the JSON format, where the escapes stay within strings.
type entryWriter struct{ to io.Writer }

func (w entryWriter) Write(p []byte) (int, error) {
	entry, ended := strings.CutSuffix(Sanitize(string(p)), "\n")
	if strings.Contains(entry, "\n") {
		lines := strings.Split(entry, "\n")
		for i, line := range lines[1:] {
			if line == "" || line[0] != ' ' {
				lines[i+1] = "  | " + line
			}
		}
		entry = strings.Join(lines, "\n")
	}
	if ended {
		entry += "\n"
	}
	if _, err := io.WriteString(w.to, entry); err != nil {
		return 0, err
	}
	return len(p), nil
}
