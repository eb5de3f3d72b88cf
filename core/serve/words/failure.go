package words

import "github.com/dogwatch/dogwatch/internal/lazyregexp"

// What errors of checks begin with: the registry with what was asked of which host, and the pattern of a label.
var (
	askedOf    = lazyregexp.New(`^registry\.[a-z0-9_-]+\.[^:\s]+: \S[^:]* at (\S+): `)
	ofItsLabel = lazyregexp.New(`^(label \S+: )tag (?:include|exclude) pattern "(?:[^"\\]|\\.)*": `)
)

// Brief returns why a check failed without what stands beside it or behind its link: which registry of the
// configuration was asked for what, and what the label that it names says.
func Brief(failure string) string {
	failure = askedOf().ReplaceAllString(failure, "${1}: ")
	return ofItsLabel().ReplaceAllString(failure, "${1}")
}
