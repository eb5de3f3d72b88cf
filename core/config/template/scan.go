package template

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError says what [Parse] does not understand, and where.
type SyntaxError struct {
	Offset       int    // byte offset in the source
	Line, Column int    // the same place for the user, both counted from 1; Column counts characters
	Message      string // what is wrong and, where possible, what to write instead
	Near         string // the source from Offset on, shortened
}

func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Near != "" {
		text += fmt.Sprintf(" (near %q)", e.Near)
	}
	return text
}

// scanner cuts the source into literal text and tokens. The parser decides which of the two comes
// next, because only it knows when a "}" ends a placeholder and when a "/" starts a regex.
type scanner struct {
	src string
	pos int
}

type tokenKind byte

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenString
	tokenName
	tokenPunct
)

type token struct {
	kind     tokenKind
	text     string // name, punctuation, or the value of a string
	number   float64
	pos, end int
}

// puncts holds longer ones first. Those that the parser never asks for are listed so that an error
// can name them whole.
var puncts = []string{
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=",
	"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "**", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
	"^=", "<<", ">>",
	"{", "}", "(", ")", "[", "]", ".", ",", ":", "?", "!", "<", ">", "+", "-", "*", "/", "%", "=", "&", "|", "^", "~",
	";", "`", "@", "#",
}

// fail ends parsing; [Parse] recovers the error.
func (s *scanner) fail(pos int, format string, args ...any) {
	before := s.src[:pos]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	panic(&SyntaxError{
		Offset: pos, Line: line, Column: column, Message: fmt.Sprintf(format, args...), Near: shorten(s.src[pos:], 24),
	})
}

// shorten cuts text to about max bytes, at a character.
func shorten(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max] + "…"
}

// text reads literal text with its escapes up to a placeholder, or to the end: the closing backtick
// of a nested template, or the end of the source. A backtick in the outer text is just a backtick:
// it would break the template in JavaScript, which no author means.
func (s *scanner) text(nested bool) (text string, placeholder bool) {
	start := s.pos
	var b strings.Builder
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '`' && nested:
			s.pos++
			return b.String(), false
		case strings.HasPrefix(s.src[s.pos:], "${"):
			s.pos += 2
			return b.String(), true
		case c == '\\':
			s.escape(&b)
		case c == '\r': // JavaScript reads every line ending in a template as \n
			s.pos++
			s.skip("\n")
			b.WriteByte('\n')
		default:
			s.pos++
			b.WriteByte(c)
		}
	}
	if nested {
		s.fail(start-1, "this backtick opens a text that is never closed")
	}
	return b.String(), false
}

func (s *scanner) skip(prefix string) bool {
	if !strings.HasPrefix(s.src[s.pos:], prefix) {
		return false
	}
	s.pos += len(prefix)
	return true
}

// escape reads one backslash escape.
func (s *scanner) escape(b *strings.Builder) {
	const simple = "n\nt\tr\rb\bf\fv\v"
	pos := s.pos
	s.pos++
	if s.pos == len(s.src) {
		s.fail(pos, `a backslash at the very end escapes nothing; write \\ for a backslash`)
	}
	c := s.src[s.pos]
	s.pos++
	switch i := strings.IndexByte(simple, c); {
	case i >= 0 && i%2 == 0:
		b.WriteByte(simple[i+1])
	case c == '\n': // a continued line
	case c == '\r':
		s.skip("\n")
	case c == '0' && !isDigit(s.peek()):
		b.WriteByte(0)
	case isDigit(c):
		s.fail(pos, `octal escapes are not supported; write \\ for a backslash`)
	case c == 'x':
		b.WriteRune(s.hex(pos, 2))
	case c == 'u':
		r := s.unicodeEscape(pos)
		if utf16.IsSurrogate(r) && s.skip(`\u`) {
			r = utf16.DecodeRune(r, s.unicodeEscape(pos))
		}
		b.WriteRune(r)
	default:
		b.WriteByte(c)
	}
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) hex(pos, digits int) rune {
	end := min(s.pos+digits, len(s.src))
	n, err := strconv.ParseUint(s.src[s.pos:end], 16, 32)
	if err != nil || n > unicode.MaxRune || end-s.pos < digits || digits == 0 {
		s.fail(pos, `this escape needs hexadecimal digits, as in \x41 or \u00e9; write \\ for a backslash`)
	}
	s.pos = end
	return rune(n)
}

func (s *scanner) unicodeEscape(pos int) rune {
	if !s.skip("{") {
		return s.hex(pos, 4)
	}
	r := s.hex(pos, max(0, strings.IndexByte(s.src[s.pos:], '}')))
	s.pos++
	return r
}

// token reads the next token of an expression.
func (s *scanner) token() token {
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		if !isSpace(r) {
			break
		}
		s.pos += size
	}
	t := token{pos: s.pos, end: s.pos}
	if s.pos == len(s.src) {
		return t
	}
	switch c := s.src[s.pos]; {
	case isDigit(c) || c == '.' && s.pos+1 < len(s.src) && isDigit(s.src[s.pos+1]):
		t.kind, t.number = tokenNumber, s.number()
	case c == '"' || c == '\'':
		t.kind, t.text = tokenString, s.quoted(c)
	case s.name():
		t.kind, t.text = tokenName, s.src[t.pos:s.pos]
	default:
		t.kind, t.text = tokenPunct, s.punct()
	}
	t.end = s.pos
	return t
}

func (s *scanner) punct() string {
	if strings.HasPrefix(s.src[s.pos:], "//") || strings.HasPrefix(s.src[s.pos:], "/*") {
		s.fail(s.pos, "comments are not supported")
	}
	for _, p := range puncts {
		if !s.skip(p) {
			continue
		}
		if p == "?." && isDigit(s.peek()) { // a ?.5 : 1
			s.pos--
			return "?"
		}
		return p
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
	s.fail(s.pos, "unexpected character %q", r)
	return ""
}

// name skips an identifier.
func (s *scanner) name() bool {
	start := s.pos
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) &&
			(s.pos == start || !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)) {
			break
		}
		s.pos += size
	}
	return s.pos > start
}

func (s *scanner) quoted(quote byte) string {
	pos := s.pos
	s.pos++
	var b strings.Builder
	for {
		switch c := s.peek(); {
		case c == quote:
			s.pos++
			return b.String()
		case c == '\\':
			s.escape(&b)
		case s.pos == len(s.src) || c == '\n' || c == '\r':
			s.fail(pos, "this string is not closed: %c is missing", quote)
		default:
			s.pos++
			b.WriteByte(c)
		}
	}
}

func (s *scanner) number() float64 {
	pos := s.pos
	end := pos + decimalPrefix(s.src[pos:])
	if strings.HasPrefix(s.src[pos:], "0") && end == pos+1 && pos+1 < len(s.src) && unicode.IsLetter(rune(s.src[pos+1])) {
		for end < len(s.src) && (isDigit(s.src[end]) || unicode.IsLetter(rune(s.src[end]))) {
			end++
		}
	}
	s.pos = end
	n := parseNumber(s.src[pos:end])
	leadingZero := end > pos+1 && s.src[pos] == '0' && isDigit(s.src[pos+1])
	if math.IsNaN(n) || leadingZero || s.name() {
		s.fail(pos, "this number is not supported; write it like 12, 1.5, 2e3 or 0xff")
	}
	return n
}

// regex reads the rest of a regex literal whose opening "/" stands at from.
func (s *scanner) regex(from int) (pattern, flags string) {
	s.pos = from + 1
	for inClass := false; ; s.pos++ {
		switch c := s.peek(); {
		case s.pos >= len(s.src) || c == '\n':
			s.fail(from, "this regex is not closed: / is missing")
		case c == '\\':
			s.pos++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			pattern = s.src[from+1 : s.pos]
			s.pos++
			start := s.pos
			s.name()
			return pattern, s.src[start:s.pos]
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isSpace is JavaScript's idea of white space and line ends.
func isSpace(r rune) bool {
	return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r)
}

// decimalPrefix measures the decimal number at the start of text, without a sign; 0 if there is none.
func decimalPrefix(text string) int {
	digits := func(i int) int {
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		return i
	}
	integer := digits(0)
	end := integer
	if end < len(text) && text[end] == '.' {
		end = digits(end + 1)
		if end == 1 {
			return 0
		}
	}
	if end == 0 || end == len(text) || text[end] != 'e' && text[end] != 'E' {
		return end
	}
	exponent := end + 1
	if exponent < len(text) && (text[exponent] == '+' || text[exponent] == '-') {
		exponent++
	}
	if last := digits(exponent); last > exponent {
		return last
	}
	return end
}
