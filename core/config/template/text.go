package template

import (
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// buffer builds a string within the budget.
type buffer struct {
	run    *run
	unpaid int // bytes written since the last step
	strings.Builder
}

func (b *buffer) write(s string) {
	if b.Len()+len(s) > maxText {
		b.run.exhaust("a text of more than %d KiB", maxText>>10)
	}
	b.unpaid += len(s)
	b.run.spend(b.unpaid / bytesPerStep)
	b.unpaid %= bytesPerStep
	b.WriteString(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unitLen is the length of s in UTF-16 units, which is what JavaScript counts.
func unitLen(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// cut returns the UTF-16 units [from, to) of s. Half of a character comes out as U+FFFD.
func cut(s string, from, to int) string {
	if from >= to {
		return ""
	}
	if isASCII(s) {
		return s[from:to]
	}
	return string(utf16.Decode(utf16.Encode([]rune(s))[from:to]))
}

// position limits a position to [0, size]. With fromEnd, a negative one counts from the end.
func position(n float64, size int, fromEnd bool) int {
	if n < 0 && fromEnd {
		n += float64(size)
	}
	return int(max(0, min(n, float64(size))))
}

// stringMethods may read their strings as they like: run.method has paid for that.
var stringMethods = map[string]func(r *run, s string, a args) any{
	"at": func(r *run, s string, a args) any {
		n, size := r.integer(a.at(0), 0), unitLen(s)
		if n < 0 {
			n += float64(size)
		}
		if n < 0 || n >= float64(size) {
			return undefined{}
		}
		return cut(s, int(n), int(n)+1)
	},
	"charAt": func(r *run, s string, a args) any {
		n := r.integer(a.at(0), 0)
		if n < 0 || n >= float64(unitLen(s)) {
			return ""
		}
		return cut(s, int(n), int(n)+1)
	},
	"charCodeAt": func(r *run, s string, a args) any {
		units := utf16.Encode([]rune(s))
		n := r.integer(a.at(0), 0)
		if n < 0 || n >= float64(len(units)) {
			return math.NaN()
		}
		return float64(units[int(n)])
	},
	"concat": func(r *run, s string, a args) any {
		b := buffer{run: r}
		b.write(s)
		for _, value := range a {
			b.write(r.text(value))
		}
		return b.String()
	},
	"endsWith": func(r *run, s string, a args) any {
		end := position(r.integer(a.at(1), math.Inf(1)), unitLen(s), false)
		return strings.HasSuffix(cut(s, 0, end), r.plain(a.at(0)))
	},
	"includes": func(r *run, s string, a args) any {
		size := unitLen(s)
		return strings.Contains(cut(s, position(r.integer(a.at(1), 0), size, false), size), r.plain(a.at(0)))
	},
	"indexOf": func(r *run, s string, a args) any {
		size := unitLen(s)
		from := position(r.integer(a.at(1), 0), size, false)
		rest := cut(s, from, size)
		i := strings.Index(rest, r.text(a.at(0)))
		if i < 0 {
			return -1.0
		}
		return float64(from + unitLen(rest[:i]))
	},
	"lastIndexOf": func(r *run, s string, a args) any {
		size, wanted := unitLen(s), r.text(a.at(0))
		from := r.number(a.at(1))
		if math.IsNaN(from) {
			from = math.Inf(1)
		}
		head := cut(s, 0, min(size, position(math.Trunc(from), size, false)+unitLen(wanted)))
		i := strings.LastIndex(head, wanted)
		if i < 0 {
			return -1.0
		}
		return float64(unitLen(head[:i]))
	},
	"match":    match,
	"matchAll": matchAll,
	"padEnd":   func(r *run, s string, a args) any { return s + padding(r, s, a) },
	"padStart": func(r *run, s string, a args) any { return padding(r, s, a) + s },
	"repeat": func(r *run, s string, a args) any {
		n := r.integer(a.at(0), 0)
		if n < 0 || math.IsInf(n, 1) {
			r.fail("repeat needs a count from 0 on, not %s", formatNumber(n))
		}
		if s == "" {
			return ""
		}
		r.reserve(n * float64(len(s)))
		return strings.Repeat(s, int(n))
	},
	"replace":    func(r *run, s string, a args) any { return replace(r, s, a, false) },
	"replaceAll": func(r *run, s string, a args) any { return replace(r, s, a, true) },
	"search": func(r *run, s string, a args) any {
		matches := r.regex(a.at(0), "").find(r, s, false)
		if len(matches) == 0 {
			return -1.0
		}
		return float64(unitLen(s[:matches[0][0]]))
	},
	"slice": func(r *run, s string, a args) any {
		size := unitLen(s)
		return cut(s, position(r.integer(a.at(0), 0), size, true), position(r.integer(a.at(1), math.Inf(1)), size, true))
	},
	"split": func(r *run, s string, a args) any { return split(r, s, a) },
	"startsWith": func(r *run, s string, a args) any {
		size := unitLen(s)
		return strings.HasPrefix(cut(s, position(r.integer(a.at(1), 0), size, false), size), r.plain(a.at(0)))
	},
	"substr": func(r *run, s string, a args) any {
		size := unitLen(s)
		from := position(r.integer(a.at(0), 0), size, true)
		return cut(s, from, position(float64(from)+r.integer(a.at(1), math.Inf(1)), size, false))
	},
	"substring": func(r *run, s string, a args) any {
		size := unitLen(s)
		from, to := position(r.integer(a.at(0), 0), size, false), position(r.integer(a.at(1), math.Inf(1)), size, false)
		return cut(s, min(from, to), max(from, to))
	},
	"toLowerCase": func(r *run, s string, _ args) any { return strings.ToLower(s) },
	"toUpperCase": func(r *run, s string, _ args) any { return strings.ToUpper(s) },
	"trim":        func(r *run, s string, _ args) any { return strings.TrimFunc(s, isSpace) },
	"trimEnd":     func(r *run, s string, _ args) any { return strings.TrimRightFunc(s, isSpace) },
	"trimStart":   func(r *run, s string, _ args) any { return strings.TrimLeftFunc(s, isSpace) },
}

// plain is the text of an argument that must not be a regex.
func (r *run) plain(v any) string {
	if _, ok := v.(*regex); ok {
		r.fail("a regex cannot be used here; use match or search")
	}
	return r.text(v)
}

// padding returns what padStart and padEnd add to s.
func padding(r *run, s string, a args) string {
	missing := r.integer(a.at(0), 0) - float64(unitLen(s))
	filler := " "
	if (a.at(1) != undefined{}) {
		filler = r.text(a.at(1))
	}
	if missing <= 0 || filler == "" {
		return ""
	}
	r.reserve(float64(len(s)) + missing*utf8.UTFMax) // a unit never takes more bytes than that
	unit := unitLen(filler)
	return cut(strings.Repeat(filler, int(missing)/unit+1), 0, int(missing))
}

// split cuts at a string, or at a regex, whose groups then become elements too.
func split(r *run, s string, a args) *array {
	limit := r.integer(a.at(1), -1)
	var items []any
	start := 0
	if (a.at(0) != undefined{}) {
		matches := find(r, s, a.at(0), true)
		if s == "" && len(matches) > 0 {
			return newArray(r, nil)
		}
		for _, m := range matches {
			if m[1] == m[0] && (m[0] == start || m[0] == len(s)) {
				continue
			}
			items = append(append(items, s[start:m[0]]), groups(s, m)[1:]...)
			start = m[1]
		}
	}
	items = append(items, s[start:])
	if limit >= 0 {
		items = items[:position(limit, len(items), false)]
	}
	return newArray(r, items)
}

// find returns where pattern, a regex or a plain string, matches in s: byte positions of the start
// and end of the match and of every group, -1 for a group that took no part. A regex finds more than
// one match if all is set.
func find(r *run, s string, pattern any, all bool) [][]int {
	if re, ok := pattern.(*regex); ok {
		return re.find(r, s, all)
	}
	var matches [][]int
	wanted := r.text(pattern)
	for from := 0; from <= len(s); {
		i := strings.Index(s[from:], wanted)
		if i < 0 {
			break
		}
		r.spend(1)
		start := from + i
		matches = append(matches, []int{start, start + len(wanted)})
		if !all {
			break
		}
		from = start + len(wanted)
		if wanted == "" {
			_, size := utf8.DecodeRuneInString(s[from:])
			from += max(size, 1)
		}
	}
	return matches
}

// groups returns the texts of a match and its groups.
func groups(s string, m []int) []any {
	texts := make([]any, len(m)/2)
	for i := range texts {
		texts[i] = undefined{}
		if m[2*i] >= 0 {
			texts[i] = s[m[2*i]:m[2*i+1]]
		}
	}
	return texts
}

func replace(r *run, s string, a args, all bool) any {
	re, isRegex := a.at(0).(*regex)
	if isRegex && all && !re.global {
		r.fail("replaceAll needs a regex with the flag g; write /%s/g", re.source)
	}
	var names []string
	if isRegex {
		all, names = re.global, re.names
	}
	replacement := a.at(1)
	if !isFunction(replacement) {
		replacement = r.text(replacement)
	}
	b := buffer{run: r}
	start := 0
	for _, m := range find(r, s, a.at(0), all) {
		b.write(s[start:m[0]])
		if pattern, ok := replacement.(string); ok {
			expand(&b, pattern, s, m, names)
		} else {
			b.write(r.text(r.call(replacement, append(groups(s, m), float64(unitLen(s[:m[0]])), s)...)))
		}
		start = m[1]
	}
	b.write(s[start:])
	return b.String()
}

// expand writes a replacement: $1 to $99, $<name>, $& for the match, $` and $' for what surrounds it.
func expand(b *buffer, pattern, s string, m []int, names []string) {
	texts := groups(s, m)
	group := func(i int) {
		if text, ok := texts[i].(string); ok {
			b.write(text)
		}
	}
	for {
		before, after, ok := strings.Cut(pattern, "$")
		b.write(before)
		if !ok {
			return
		}
		pattern = after
		if pattern == "" {
			b.write("$")
			return
		}
		number, size := 0, 0
		for size < min(2, len(pattern)) && isDigit(pattern[size]) && number*10+int(pattern[size]-'0') < len(texts) {
			number = number*10 + int(pattern[size]-'0')
			size++
		}
		name, _, closed := strings.Cut(pattern[1:], ">")
		switch c := pattern[0]; {
		case number > 0:
			group(number)
			pattern = pattern[size:]
			continue
		case c == '$':
			b.write("$")
		case c == '&':
			group(0)
		case c == '`':
			b.write(s[:m[0]])
		case c == '\'':
			b.write(s[m[1]:])
		case c == '<' && closed && slices.ContainsFunc(names, func(n string) bool { return n != "" }):
			if i := slices.Index(names, name); i > 0 {
				group(i)
			}
			pattern = pattern[len(name)+1:]
		default:
			b.write("$")
			continue
		}
		pattern = pattern[1:]
	}
}
