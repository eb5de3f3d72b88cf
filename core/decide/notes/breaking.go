package notes

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

var (
	breaking = lazyregexp.New(`(?i)\bbreaking\b|\bbackwards?[- ]incompatible|^[-*+ ]*\w+(\([^)]*\))?!:|\b(removed|dropped) support\b`)
	action   = lazyregexp.New(`(?i)\b(actions? required|required actions?|you (must|need to|have to)|must be (migrated|updated|changed|run)|manual (migration|steps?|intervention|action)|before (you )?(upgrad|updat)ing|migration (guide|required)|upgrade notes?)\b`)
	harmless = lazyregexp.New(`(?i)\b(no|non|not an?y?|without( any)?|zero)[- ]+(known )?(breaking|actions?|manual)`)
)

const (
	// maxWarnings is how many warnings of each kind are taken from a release, and
	// maxWarning how long each may be, in bytes.
	maxWarnings = 5
	maxWarning  = 240
)

// warnings returns the lines of notes that warn of a breaking change, and those that
// demand something. Below a heading that warns, these are its items; a heading without any
// stands for itself.
func warnings(body string) (breaks, actions []string) {
	var under *[]string
	title := "" // of the heading that has no items yet
	add := func(to *[]string, line string) {
		line = cut(strings.Trim(line, "#*-+>_ \t"), maxWarning)
		if line != "" && len(*to) < maxWarnings && !slices.Contains(*to, line) {
			*to = append(*to, line)
		}
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || harmless().MatchString(line) {
			continue
		}
		var kind *[]string
		switch {
		case breaking().MatchString(line):
			kind = &breaks
		case action().MatchString(line):
			kind = &actions
		}
		heading := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**")
		switch {
		case heading:
			if title != "" {
				add(under, title)
			}
			if under, title = kind, ""; kind != nil {
				title = line
			}
		case kind != nil:
			add(kind, line)
			title = ""
		case under != nil && strings.IndexAny(line, "-*+") == 0:
			add(under, line)
			title = ""
		}
	}
	if title != "" {
		add(under, title)
	}
	return breaks, actions
}
