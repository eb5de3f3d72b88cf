package policy

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy/window"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/regexcost"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// The names of rules: of the setting policy.minage, of the label dogwatch.update.minage.
// The setting policy.update is the label dogwatch.update.
const (
	RuleUpdate    = "update"
	RuleMajor     = "major"
	RuleThreshold = "threshold"
	RuleMinAge    = "minage"
	RuleSecurity  = "security"
	RuleWindow    = "window"
	RuleFreeze    = "freeze"
	RuleSkip      = "skip"
)

// RuleNames returns the names of all rules.
func RuleNames() []string {
	return []string{RuleUpdate, RuleMajor, RuleThreshold, RuleMinAge, RuleSecurity, RuleWindow, RuleFreeze, RuleSkip}
}

// Set reads a rule as users write it. The zone is that of windows and freezes without
// one, nil for that of the machine. The error says what is wrong, not where; then the rule
// is as before.
func (r *Rules) Set(name, text, source string, zone *time.Location) error {
	text = strings.TrimSpace(text)
	switch name {
	case RuleUpdate:
		mode, err := oneOf(text, string(Notify), string(Approve), string(Auto))
		return assign(&r.Mode, Mode(mode), source, err)
	case RuleMajor:
		mode, err := oneOf(text, string(Notify), string(Approve), string(Auto))
		return assign(&r.Major, Mode(mode), source, err)
	case RuleThreshold:
		limit, err := oneOf(text, Thresholds()...)
		return assign(&r.Threshold, limit, source, err)
	case RuleMinAge:
		age, err := ParseAge(text)
		return assign(&r.MinAge, age, source, err)
	case RuleSecurity:
		severity, err := parseSecurity(text)
		return assign(&r.Security, severity, source, err)
	case RuleWindow:
		w, err := window.Parse(text, zone)
		return assign[Window](&r.Window, w, source, err)
	case RuleFreeze:
		f, err := window.ParseFreeze(text, zone)
		return assign[Freeze](&r.Freeze, f, source, err)
	case RuleSkip:
		p, err := ParsePattern(text)
		return assign[Pattern](&r.Skip, p, source, err)
	}
	if near := option.Suggest(name, RuleNames()); near != "" {
		return fmt.Errorf("there is no rule %q: did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no rule %q; rules are %s", name, strings.Join(RuleNames(), ", "))
}

func assign[T any](s *Setting[T], value T, source string, err error) error {
	if err == nil {
		*s = Setting[T]{value, source}
	}
	return err
}

// NeverOpens returns the problem of a window that never opens outside its freeze, or of a
// freeze that never ends.
func (r Rules) NeverOpens(now time.Time) (Problem, bool) {
	if r.Freeze.Value == nil || len(window.Next(r.Window.Value, r.Freeze.Value, now, 1)) > 0 {
		return Problem{}, false
	}
	p := Problem{
		Source: r.Freeze.Source, Text: fmt.Sprintf("the freeze %s never ends: give it a last day", r.Freeze.Value),
	}
	if r.Window.Value != nil {
		p.Text = fmt.Sprintf("the window %s (%s) is within the freeze %s for ever: change one of them", r.Window.Value,
			r.Window.Source, r.Freeze.Value)
	}
	return p, true
}

// oneOf reads one of a few words.
func oneOf(text string, words ...string) (string, error) {
	lower := strings.ToLower(text)
	if slices.Contains(words, lower) {
		return lower, nil
	}
	if near := option.Suggest(lower, words); near != "" {
		return "", fmt.Errorf("%.60q is none of %s: did you mean %s?", text, strings.Join(words, ", "), near)
	}
	return "", fmt.Errorf("%.60q is none of %s", text, strings.Join(words, ", "))
}

// noSecurity is the word for no severity: the age counts whatever a version fixes.
const noSecurity = "none"

// parseSecurity reads the severity from which on the fix of a vulnerability is urgent.
func parseSecurity(text string) (vulnerability.Severity, error) {
	word, err := oneOf(text, "critical", "high", "medium", "low", noSecurity)
	severity, _ := vulnerability.ParseSeverity(word)
	return severity, err
}

var ageUnits = map[string]time.Duration{"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute}

var ageParts = lazyregexp.New(`^(\d{1,5})([wdhm])`)

// ParseAge reads a duration in weeks, days, hours and minutes: "7d", "36h", "1w2d". "0" is none.
func ParseAge(text string) (age time.Duration, err error) {
	const longest = 10 * 365 * 24 * time.Hour
	if text == "0" {
		return 0, nil
	}
	for rest := strings.ToLower(text); rest != ""; {
		found := ageParts().FindStringSubmatch(rest)
		if found == nil {
			return 0, unreadableAge(text)
		}
		n, _ := strconv.Atoi(found[1])
		if age += time.Duration(n) * ageUnits[found[2]]; age > longest {
			return 0, fmt.Errorf("%.60q is more than ten years", text)
		}
		rest = rest[len(found[0]):]
	}
	if text == "" {
		return 0, unreadableAge(text)
	}
	return age, nil
}

func unreadableAge(text string) error {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return fmt.Errorf("%q has no unit: write %dd for days or %dh for hours", text, n, n)
	}
	return fmt.Errorf("%.60q is not an age: write it like 7d, 36h or 2w", text)
}

// expression is a Pattern that matches anywhere in a text.
type expression struct{ *regexp.Regexp }

func (e expression) Match(text string) bool { return e.MatchString(text) }

// ParsePattern reads a regular expression that is matched in linear time.
func ParsePattern(text string) (Pattern, error) {
	const maxInstructions = 5000
	if text == "" {
		return nil, errors.New("the pattern is empty")
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%.100q is not a regular expression: %w", text, err)
	}
	if regexcost.Instructions(tree) > maxInstructions {
		return nil, fmt.Errorf("the pattern %.100q is too large: repeat less", text)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%.100q is not a regular expression: %w", text, err)
	}
	return expression{re}, nil
}
