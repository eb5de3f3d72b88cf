package template

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/dogwatch/dogwatch/internal/regexcost"
)

const (
	maxPattern   = 1 << 10 // bytes of a regex
	maxProgram   = 2_000   // instructions of the linear engine
	maxPrograms  = 8_000   // of all regexes that stand in one template
	compileSteps = 200     // price of a regex that is not a literal
	workPerStep  = 512     // bytes times instructions of the linear engine
)

// regex is a compiled regex. Go's own engine runs it in linear time where it means the same as in
// JavaScript; regexp2 runs the others, such as those with lookahead, under a time limit.
type regex struct {
	source, flags string
	global        bool
	names         []string // of the groups, "" for those without
	linear        *regexp.Regexp
	cost          int // instructions of linear, roughly
	backtracking  *regexp2.Regexp
}

func newRegex(source, flags string) (*regex, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("the regex is longer than %d bytes", maxPattern)
	}
	for i, flag := range flags {
		if !strings.ContainsRune("gimsu", flag) || strings.ContainsRune(flags[:i], flag) {
			return nil, fmt.Errorf("the regex flag %q is not supported; use g, i, m, s and u, each once", flag)
		}
	}
	re := &regex{source: source, flags: flags, global: strings.Contains(flags, "g")}
	if re.compileLinear() {
		return re, nil
	}
	options := regexp2.ECMAScript
	for i, option := range []regexp2.RegexOptions{regexp2.IgnoreCase, regexp2.Multiline, regexp2.Singleline,
		regexp2.Unicode} {
		if strings.Contains(flags, "imsu"[i:i+1]) {
			options |= option
		}
	}
	compiled, err := regexp2.Compile(source, options)
	if err != nil {
		return nil, fmt.Errorf("the regex is not valid: %w", err)
	}
	compiled.MatchTimeout = maxMatch
	re.backtracking, re.names = compiled, compiled.GetGroupNames()
	return re, nil
}

// compileLinear tells whether Go's engine takes the regex and reads it as JavaScript does.
func (re *regex) compileLinear() bool {
	pattern, ok := translate(re.source, strings.Contains(re.flags, "s"))
	if !ok || strings.ContainsAny(re.flags, "mu") {
		return false
	}
	if strings.Contains(re.flags, "i") {
		if !isASCII(re.source) {
			return false // the two fold other letters differently
		}
		pattern = "(?i)" + pattern
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || matchesEmpty(tree) || forgetsGroup(tree, false, false) {
		return false
	}
	cost := regexcost.Instructions(tree)
	if cost > maxProgram {
		return false
	}
	if re.linear, err = regexp.Compile(pattern); err != nil {
		return false
	}
	re.cost = cost
	re.names = re.linear.SubexpNames()
	return true
}

// translate writes a JavaScript pattern for Go's engine. It declines what is rare or differs: classes
// that start with "]", groups other than (?: and (?<name>, and all but the common escapes.
func translate(pattern string, dotAll bool) (string, bool) {
	const space = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c, rest := pattern[i], pattern[i+1:]
		switch {
		case c == '\\':
			if rest == "" {
				return "", false
			}
			i++
			letter := rest[0]
			switch {
			case letter == 's' && inClass:
				b.WriteString(space)
			case letter == 's':
				b.WriteString("[" + space + "]")
			case strings.IndexByte("dDwWnrtfv", letter) >= 0, letter < 0x80 && !isWord(letter),
				!inClass && (letter == 'b' || letter == 'B'):
				b.WriteByte('\\')
				b.WriteByte(letter)
			default:
				return "", false
			}
			continue
		case inClass:
			if c == '[' && strings.HasPrefix(rest, ":") {
				return "", false
			}
			inClass = c != ']'
		case c == '[':
			if strings.HasPrefix(strings.TrimPrefix(rest, "^"), "]") {
				return "", false
			}
			inClass = true
		case c == '(' && strings.HasPrefix(rest, "?"):
			named := len(rest) > 2 && rest[1] == '<' && isWord(rest[2])
			if !named && !strings.HasPrefix(rest, "?:") {
				return "", false
			}
		case c == '.' && dotAll:
			b.WriteString("(?s:.)")
			continue
		case c == '.':
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// matchesEmpty tells whether the regex can match nothing. Go passes over an empty match right after
// another match; JavaScript does not.
func matchesEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return matchesEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || matchesEmpty(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !matchesEmpty(sub) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, matchesEmpty)
	}
	return true
}

// forgetsGroup tells whether a round of a repetition can pass over a group that an earlier round has
// filled: JavaScript then forgets what the group held, Go does not.
func forgetsGroup(re *syntax.Regexp, repeated, skippable bool) bool {
	switch re.Op {
	case syntax.OpCapture:
		if skippable {
			return true
		}
	case syntax.OpAlternate, syntax.OpQuest:
		skippable = skippable || repeated
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		skippable = skippable || repeated || matchesEmpty(re.Sub[0])
		repeated = true
	}
	return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return forgetsGroup(sub, repeated, skippable) })
}

// find does what the function find says.
func (re *regex) find(r *run, s string, all bool) [][]int {
	if re.linear == nil {
		return re.backtrack(r, s, all)
	}
	r.spend(1 + len(s)*re.cost/workPerStep)
	limit := 1
	if all {
		limit = r.steps/len(re.names) + 1 // more could not be paid for
	}
	matches := re.linear.FindAllStringSubmatchIndex(s, limit)
	r.spend(len(matches) * len(re.names))
	return matches
}

func (re *regex) backtrack(r *run, s string, all bool) [][]int {
	r.spend(1 + len(s)/8) // it makes a copy that is four times as large
	var matches [][]int
	for m := re.search(r, s, nil); m != nil; m = re.search(r, s, m) {
		r.spend(len(re.names))
		bounds := make([]int, 0, 2*len(re.names))
		for i := range re.names {
			group := m.GroupByNumber(i)
			if len(group.Captures) == 0 {
				bounds = append(bounds, -1, -1)
				continue
			}
			from, size := group.ByteRange()
			bounds = append(bounds, from, from+size)
		}
		if matches = append(matches, bounds); !all {
			break
		}
	}
	return matches
}

// search finds the first match, or the one after another, within the time limits.
func (re *regex) search(r *run, s string, after *regexp2.Match) (m *regexp2.Match) {
	for range 2 { // one that was only interrupted on a busy machine is in time when it is tried again
		start := time.Now()
		var err error
		if after == nil {
			m, err = re.backtracking.FindStringMatch(s)
		} else {
			m, err = re.backtracking.FindNextMatch(after)
		}
		if r.matching += time.Since(start); err == nil && r.matching <= maxMatching {
			return m
		}
	}
	r.exhaust("the regex /%s/ takes too long", shorten(re.source, 40))
	return nil
}

// regex takes a regex as it is and compiles anything else, as JavaScript's match does.
func (r *run) regex(v any, flags string) *regex {
	if re, ok := v.(*regex); ok {
		return re
	}
	r.spend(compileSteps)
	source := ""
	if (v != undefined{}) {
		source = r.text(v)
	}
	re, err := newRegex(source, flags)
	if err != nil {
		r.fail("%s", err)
	}
	return re
}

var regexMethods = map[string]func(r *run, re *regex, a args) any{
	"exec": func(r *run, re *regex, a args) any {
		s := r.text(a.at(0))
		matches := re.find(r, s, false)
		if len(matches) == 0 {
			return nil
		}
		return re.result(r, s, matches[0])
	},
	"test": func(r *run, re *regex, a args) any { return len(re.find(r, r.text(a.at(0)), false)) > 0 },
}

// match returns the texts of all matches with the flag g, and the first one with its groups without.
func match(r *run, s string, a args) any {
	re := r.regex(a.at(0), "")
	matches := re.find(r, s, re.global)
	if len(matches) == 0 {
		return nil
	}
	if !re.global {
		return re.result(r, s, matches[0])
	}
	texts := make([]any, len(matches))
	for i, m := range matches {
		texts[i] = s[m[0]:m[1]]
	}
	return newArray(r, texts)
}

// matchAll returns an array where JavaScript has an iterator.
func matchAll(r *run, s string, a args) any {
	re := r.regex(a.at(0), "g")
	if !re.global {
		r.fail("matchAll needs a regex with the flag g; write /%s/g", re.source)
	}
	var results []any
	for _, m := range re.find(r, s, true) {
		results = append(results, re.result(r, s, m))
	}
	return newArray(r, results)
}

func (re *regex) result(r *run, s string, m []int) *array {
	result := newArray(r, groups(s, m))
	result.match = newObject()
	result.match.set("index", float64(unitLen(s[:m[0]])))
	named := newObject()
	for i, name := range re.names {
		if name != "" {
			named.set(name, result.items[i])
		}
	}
	if len(named.keys) > 0 {
		result.match.set("groups", named)
	}
	return result
}
