package tag

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// filter is an include or exclude rule.
type filter struct {
	rule string
	text string
	*pattern
}

// compileFilter returns nil for an empty rule.
func compileFilter(rule, text string) (*filter, error) {
	if text == "" {
		return nil, nil
	}
	p, err := compile(text)
	if err != nil {
		return nil, &RuleError{Rule: rule, Pattern: text, Err: err}
	}
	return &filter{rule: rule, text: text, pattern: p}, nil
}

// match reports whether the rule matches anywhere in the tag. A nil filter matches
// nothing.
func (f *filter) match(tag string) (bool, error) {
	if f == nil {
		return false, nil
	}
	ok, err := f.pattern.match(tag)
	if err != nil {
		return false, &RuleError{Rule: f.rule, Pattern: f.text, Err: err}
	}
	return ok, nil
}

// hint returns what is probably a slip in the rule, or nil.
func (f *filter) hint() phrase.Phrase {
	if f == nil {
		return nil
	}
	if slip := slip(f.text); slip != nil {
		return phrase.New("tag %s pattern %s may match nothing: %s", f.rule, quoted(f.text), slip)
	}
	return nil
}

// slip recognises expressions that compile and yet cannot do what was meant. Each kind
// is found on containers in the wild.
func slip(expression string) phrase.Phrase {
	caret := strings.LastIndexByte(expression, '^')
	switch {
	case strings.Contains(expression, "=>"):
		return phrase.New("the arrow => belongs in a transform")
	case strings.Contains(expression, "${"):
		return phrase.New("a variable was not replaced; in Compose files write $$ for $")
	case strings.HasPrefix(expression, "/") && strings.Count(expression, "/") > 1:
		return phrase.New("write the expression without slashes around it")
	case strings.Contains(expression, `\\`):
		return phrase.New(`\\ asks for a backslash, which no tag has; write \d, not \\d`)
	case strings.Contains(expression, `\$`):
		return phrase.New(`\$ asks for a dollar sign, which no tag has; write $`)
	case strings.ContainsAny(expression, `"'`):
		return phrase.New("no tag has a quotation mark")
	case caret > 0 && isAlnum(expression[caret-1]) && (caret < 2 || expression[caret-2] != '\\'):
		return phrase.New("nothing can stand before ^, the beginning of the tag")
	}
	return nil
}

// transform rewrites tags before they are read as versions: "regex => replacement".
type transform struct {
	text  string
	match *pattern
	parts []part
}

// part of a replacement: a literal text, or a group if group >= 0.
type part struct {
	literal string
	group   int
}

// compileTransform returns nil for a formula that leaves tags as they are: the empty
// one, silently, and those without arrow or placeholder with a warning, as in WUD.
func compileTransform(text string) (t *transform, warning phrase.Phrase, err error) {
	if text == "" {
		return nil, nil, nil
	}
	expression, replacement, ok := strings.Cut(text, "=>")
	if !ok {
		return nil,
			phrase.New("tag transform %.300q is ignored: write it as regex => replacement, such as ^v(.*)$ => $1", text), nil
	}
	// Like WUD, only the two pieces around the first arrow count.
	replacement, _, again := strings.Cut(replacement, "=>")
	replacement = strings.TrimLeftFunc(replacement, unicode.IsSpace)
	if again {
		replacement = strings.TrimRightFunc(replacement, unicode.IsSpace)
	}
	if len(text) > maxPattern {
		err = fmt.Errorf("it has %d characters: shorten it to %d", len(text), maxPattern)
	}
	var p *pattern
	if err == nil {
		p, err = compile(strings.TrimRightFunc(expression, unicode.IsSpace))
	}
	if err != nil {
		return nil, nil, &RuleError{Rule: "transform", Pattern: text, Err: err}
	}
	parts, placeholders := parseReplacement(replacement)
	if !placeholders {
		return nil, phrase.New("tag transform %.300q is ignored: its replacement has no placeholder such as $1", text), nil
	}
	return &transform{text: text, match: p, parts: parts}, nil, nil
}

// parseReplacement splits a replacement at its placeholders, $ and digits. $10 is group
// ten; WUD reads it as group one and a zero if $1 stands before it.
func parseReplacement(s string) (parts []part, placeholders bool) {
	for s != "" {
		i := 0
		for i < len(s) && (s[i] != '$' || i+1 == len(s) || !isDigit(s[i+1])) {
			i++
		}
		if i > 0 {
			parts = append(parts, part{literal: s[:i], group: -1})
		}
		if i == len(s) {
			break
		}
		number, end := digits(s, i+1)
		group, err := strconv.Atoi(number)
		if err != nil || group > maxPattern {
			group = math.MaxInt32 / 4 // a group that no expression has
		}
		parts, placeholders = append(parts, part{group: group}), true
		s = s[end:]
	}
	return parts, placeholders
}

// apply returns the transformed tag and whether the expression matched; the tag itself
// if it did not. A group without text inserts nothing (WUD writes "undefined"). A nil
// transform matches and changes nothing.
func (t *transform) apply(tag string) (text string, matched bool, err error) {
	if t == nil {
		return tag, true, nil
	}
	group, err := t.match.groups(tag)
	if err != nil {
		return tag, false, &RuleError{Rule: "transform", Pattern: t.text, Err: err}
	}
	if group == nil {
		return tag, false, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.group < 0 {
			b.WriteString(p.literal)
		} else {
			b.WriteString(group(p.group))
		}
	}
	return b.String(), true, nil
}
