// Package visible leaves of a text what its reader can see.
//
// Names, tags, labels and release notes are written by others. Bidirectional controls show a
// text in another order than it has (Unicode UAX #9; CVE-2021-42574, "Trojan Source"), and
// characters without a glyph make two names look alike or carry what nobody sees (UTS #39,
// UTR #36). What is dropped:
//   - control characters, but for the line feeds and tabs of texts of several lines;
//   - format characters (Cf), among them the bidirectional controls, zero-width spaces, the byte
//     order mark, the soft hyphen and the tag characters, but for those that have a glyph;
//   - fillers and others that are ignored by default (Other_Default_Ignorable_Code_Point);
//   - variation selectors.
//
// Emoji need two of these (UTS #51): U+200D stays between two of them, and U+FE0E and U+FE0F
// stay behind one. The joiners of Arabic and Indic scripts are dropped: their texts stay readable.
package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	joiner      = '\u200d'
	textStyle   = '\ufe0e'
	emojiStyle  = '\ufe0f'
	lineBreak   = '\u2028'
	paragraph   = '\u2029'
	skinTones   = '\U0001f3fb'
	lastOfTones = '\U0001f3ff'
)

// Hidden reports whether c is dropped wherever it stands, or, as the characters of emoji, wherever
// these do not need it. Line feeds and tabs are hidden, too.
func Hidden(c rune) bool {
	if c < utf8.RuneSelf {
		return c < ' ' || c == 0x7f
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, c)
}

// Line returns what can be seen of a text, on one line: line breaks and tabs become spaces.
func Line(text string) string {
	return filter(strings.ReplaceAll(text, "\r\n", "\n"), func(c rune) rune {
		switch c {
		case '\n', '\r', '\t', lineBreak, paragraph:
			return ' '
		}
		return -1
	})
}

// Text returns what can be seen of a text of several lines, which end with a line feed.
func Text(text string) string {
	return filter(strings.ReplaceAll(text, "\r\n", "\n"), func(c rune) rune {
		switch c {
		case '\n', '\r', lineBreak, paragraph:
			return '\n'
		case '\t':
			return '\t'
		}
		return -1
	})
}

// filter replaces the hidden characters of a text, those without a replacement by nothing.
func filter(text string, replacement func(rune) rune) string {
	first := strings.IndexFunc(text, Hidden)
	if first < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:first])
	before, _ := utf8.DecodeLastRuneInString(text[:first])
	for i, c := range text[first:] {
		if Hidden(c) && !partOfEmoji(before, c, text[first+i+utf8.RuneLen(c):]) {
			if c = replacement(c); c < 0 {
				continue
			}
		}
		b.WriteRune(c)
		before = c
	}
	return b.String()
}

// partOfEmoji reports whether an emoji needs c, between the character before and the text after it.
func partOfEmoji(before, c rune, after string) bool {
	switch c {
	case textStyle, emojiStyle:
		return takesStyle(before)
	case joiner:
		next, _ := utf8.DecodeRuneInString(after)
		return (before == emojiStyle || before >= skinTones && before <= lastOfTones || isSymbol(before)) && isSymbol(next)
	}
	return false
}

func isSymbol(c rune) bool { return c >= 0xa9 && unicode.In(c, unicode.So, unicode.Sm) }

// takesStyle reports whether c has a style as a text and one as an emoji (emoji-variation-sequences.txt).
func takesStyle(c rune) bool {
	return isSymbol(c) || c >= '0' && c <= '9' || strings.ContainsRune("#*\u203c\u2049\u3030\u303d", c)
}
