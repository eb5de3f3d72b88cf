// Package redact blanks secrets in texts that are logged, shown or sent: it decides what is long enough to be one,
// and in which spellings it is found.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Blank stands where a secret stood.
const Blank = "***"

// Shortest is the length, in bytes, from which a text is taken for a secret:
// blanking shorter ones would make texts unreadable and hide nothing.
const Shortest = 4

// Secrets are blanked wherever they stand, in each spelling in which they may turn up: plain, escaped for JSON, Go or
// the terminal, escaped for URLs, and in Base64 (also as part of a longer text, as in an Authorization header). A
// secret that is cut in two is not found. The zero value has none. Secrets never change, so that they may be used
// concurrently.
type Secrets struct {
	spellings []string // the longest first, each once
	replacer  *strings.Replacer
}

// New returns secrets. Those shorter than Shortest are ignored.
func New(secrets ...string) Secrets { return Secrets{}.With(secrets...) }

// With returns s with more secrets.
func (s Secrets) With(secrets ...string) Secrets {
	all := slices.Clone(s.spellings)
	for _, secret := range secrets {
		all = append(all, spellings(secret)...)
	}
	// Of two that begin at the same place the first in the list is taken: the longer must come first.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	if all = slices.Compact(all); len(all) == len(s.spellings) {
		return s
	}
	pairs := make([]string, 0, 2*len(all))
	for _, spelling := range all {
		pairs = append(pairs, spelling, Blank)
	}
	return Secrets{all, strings.NewReplacer(pairs...)}
}

// Blank returns text with every secret blanked.
func (s Secrets) Blank(text string) string {
	if s.replacer == nil {
		return text
	}
	return s.replacer.Replace(text)
}

// Longest returns how many bytes the longest spelling of a secret has.
func (s Secrets) Longest() int {
	if len(s.spellings) == 0 {
		return 0
	}
	return len(s.spellings[0])
}

// Lines returns the lines of a text as blank makes them. A line that is a part of a secret of several lines is Blank.
func Lines(all []string, blank func(string) string) []string {
	whole := map[string]bool{}
	for line := range strings.SplitSeq(blank(strings.Join(all, "\n")), "\n") {
		whole[line] = true
	}
	blanked := make([]string, len(all))
	for i, line := range all {
		if blanked[i] = blank(line); !whole[blanked[i]] {
			blanked[i] = Blank
		}
	}
	return blanked
}

// Each blanks the texts of values as Lines does.
func Each[T any](all []T, text func(*T) *string, blank func(string) string) {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = *text(&all[i])
	}
	for i, blanked := range Lines(texts, blank) {
		*text(&all[i]) = blanked
	}
}

// Error returns an error with the text that blank makes of that of err, and its kinds; err itself, also nil, when
// there is nothing to blank.
func Error(err error, blank func(string) string) error {
	if err == nil {
		return nil
	}
	text := blank(err.Error())
	if text == err.Error() {
		return err
	}
	return &blanked{text, err}
}

type blanked struct {
	text string
	err  error
}

func (e *blanked) Error() string { return e.text }
func (e *blanked) Unwrap() error { return e.err }
