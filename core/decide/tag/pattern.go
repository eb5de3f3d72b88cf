package tag

import (
	"errors"
	"fmt"
	"regexp"
	gosyntax "regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"

	"github.com/dogwatch/dogwatch/internal/regexcost"
)

const (
	maxPattern   = 1024 // bytes of an expression
	maxProgram   = 2000 // instructions of what it compiles to: some hundred kilobytes
	matchTimeout = 100 * time.Millisecond
)

// ErrTimeout is wrapped by the RuleError of a pattern that takes too long to match, be it
// on one tag or on all of them.
var ErrTimeout = errors.New("matching takes too long: remove nested repetitions, lookarounds or backreferences")

// RuleError says which rule of a container cannot be used, and why.
type RuleError struct {
	Rule    string // "include", "exclude" or "transform"
	Pattern string // the rule as written
	Err     error  // what is wrong, where, and what to do
}

func (e *RuleError) Error() string {
	return fmt.Sprintf("tag %s pattern %s: %v", e.Rule, quoted(e.Pattern), e.Err)
}

// quoted puts an expression into quotation marks, at most 300 characters of it. Its backslashes are not doubled: it is
// shown to who wrote it.
func quoted(expression string) string {
	hidden := func(r rune) bool { return !strconv.IsPrint(r) }
	if !utf8.ValidString(expression) || strings.ContainsFunc(expression, hidden) {
		return fmt.Sprintf("%.300q", expression)
	}
	return fmt.Sprintf(`"%.300s"`, expression)
}

func (e *RuleError) Unwrap() error { return e.Err }

// pattern is a JavaScript regular expression. Tags are ASCII, for which Go's regexp
// agrees with JavaScript and runs in linear time; only expressions that it does not
// have (lookarounds, backreferences, \u0031, [^]) run on a backtracking engine, with a
// time limit. The limit is one of the clock on the wall: on a busy machine a match that
// was only interrupted may exceed it, so a match that fails is tried once more.
type pattern struct {
	linear       *regexp.Regexp
	backtracking *regexp2.Regexp // used when linear is nil
	size         int             // roughly, of either
}

// compile returns the pattern of an expression, or an error that says where it is
// wrong and how to mend it. What a label can make it spend is bounded: it estimates the
// program of an expression before it compiles it.
func compile(expression string) (*pattern, error) {
	if len(expression) > maxPattern {
		return nil, fmt.Errorf("it has %d characters: shorten it to %d", len(expression), maxPattern)
	}
	if tree, err := gosyntax.Parse(expression, gosyntax.Perl); err == nil {
		size := regexcost.Instructions(tree)
		if size > maxProgram {
			return nil,
				fmt.Errorf("it becomes %d steps when its repetitions are written out, %d are allowed: repeat less, such as {1,20} for {1,1000}, or use * and +", size, maxProgram)
		}
		if linear, err := regexp.Compile(expression); err == nil {
			return &pattern{linear: linear, size: size}, nil
		}
	}
	backtracking, err := regexp2.Compile(expression, regexp2.ECMAScript, regexp2.OptionMaintainCaptureOrder())
	if err != nil {
		return nil, explainSyntax(expression, err)
	}
	backtracking.MatchTimeout = matchTimeout
	return &pattern{backtracking: backtracking, size: len(expression)}, nil
}

// match reports whether the pattern matches anywhere in s. It never matches what is too
// long for a tag.
func (p *pattern) match(s string) (bool, error) {
	if len(s) > maxText {
		return false, nil
	}
	if p.linear != nil {
		return p.linear.MatchString(s), nil
	}
	found, err := p.backtracking.MatchString(s)
	if err != nil {
		found, err = p.backtracking.MatchString(s)
	}
	if err != nil {
		return false, ErrTimeout
	}
	return found, nil
}

// groups returns a function giving the text of each group of the first match, empty
// for groups that took no part or do not exist; nil if there is no match, as in what is
// too long for a tag.
func (p *pattern) groups(s string) (func(int) string, error) {
	if len(s) > maxText {
		return nil, nil
	}
	if p.linear != nil {
		indexes := p.linear.FindStringSubmatchIndex(s)
		if indexes == nil {
			return nil, nil
		}
		return func(n int) string {
			if 2*n >= len(indexes) || indexes[2*n] < 0 {
				return ""
			}
			return s[indexes[2*n]:indexes[2*n+1]]
		}, nil
	}
	m, err := p.backtracking.FindStringMatch(s)
	if err != nil {
		m, err = p.backtracking.FindStringMatch(s)
	}
	if err != nil {
		return nil, ErrTimeout
	}
	if m == nil {
		return nil, nil
	}
	return func(n int) string {
		if g := m.GroupByNumber(n); g != nil {
			return g.String()
		}
		return ""
	}, nil
}

// explainSyntax turns the error of the JavaScript compiler into one for users who
// write labels.
func explainSyntax(expression string, err error) error {
	if index := unbalanced(expression); index >= 0 {
		c := expression[index]
		return fmt.Errorf("%q at character %d has no matching bracket, so add one or write \\%c for the character itself",
			c, index+1, c)
	}
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return fmt.Errorf("not a JavaScript regular expression: %w", err)
	}
	problem, _, _ := strings.Cut(strings.TrimPrefix(bad.Error(), "error parsing regexp: "), " in `")
	return fmt.Errorf("%s at character %d: %s", problem, faultAt(expression, bad.Code), remedy(bad.Code))
}

// faultAt returns how much of an expression it takes for its fault to show.
func faultAt(expression string, code syntax.ErrorCode) int {
	for n := range len(expression) {
		var bad *syntax.Error
		if _, err := regexp2.Compile(expression[:n], regexp2.ECMAScript); errors.As(err, &bad) && bad.Code == code {
			return n
		}
	}
	return len(expression)
}

func remedy(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrInvalidRepeatOp, syntax.ErrMissingRepeatArgument, syntax.ErrQuantifiedAssertion:
		return "put one thing before each repetition sign, or write \\ before the sign to match it"
	case syntax.ErrInvalidCharRange, syntax.ErrReversedCharRange, syntax.ErrBadClassInCharRange,
		syntax.ErrShorthandClassInCharRange:
		return "write ranges from low to high, and a hyphen last"
	case syntax.ErrIllegalEndEscape, syntax.ErrUnrecognizedEscape:
		return "remove the backslash, or write two to match one"
	}
	return "write a JavaScript regular expression"
}

// unbalanced returns the index of the first bracket or parenthesis without partner,
// or -1.
func unbalanced(expression string) int {
	var open []int // parentheses that wait for their partner
	class := -1    // the bracket of the character class around i
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\':
			i++
		case class >= 0:
			if c == ']' {
				class = -1
			}
		case c == '[':
			class = i
		case c == '(':
			open = append(open, i)
		case c == ')':
			if len(open) == 0 {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	if class >= 0 {
		return class
	}
	if len(open) > 0 {
		return open[0]
	}
	return -1
}
