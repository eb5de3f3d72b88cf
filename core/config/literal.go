package config

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// unquoted returns a text without the quotation marks around it: variables of env files and of
// lists in compose files have them as they were written. A text that begins and ends with marks
// and has others of the kind in between means them.
func unquoted(text string) string {
	if len(text) < 2 {
		return text
	}
	mark, inner := text[:1], text[1:len(text)-1]
	if mark != `"` && mark != "'" || !strings.HasSuffix(text, mark) || strings.Contains(inner, mark) {
		return text
	}
	return inner
}

// plainText returns the text of a file without the byte order mark, of UTF-8 or UTF-16, that
// editors and shells of Windows put before it. What has none is returned as it is.
func plainText(data []byte) string {
	var order binary.ByteOrder
	switch text := string(data); {
	case strings.HasPrefix(text, "\xff\xfe"):
		order = binary.LittleEndian
	case strings.HasPrefix(text, "\xfe\xff"):
		order = binary.BigEndian
	default:
		return strings.TrimPrefix(text, "\uFEFF")
	}
	var units []uint16
	for data = data[2:]; len(data) > 1; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return string(utf16.Decode(units))
}
