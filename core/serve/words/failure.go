package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// What errors of checks begin with: the registry with what was asked of which host, and the pattern of a label.
var (
	askedOf = lazyregexp.New(`^registry\.[a-z0-9_-]+\.[^:\s]+: \S[^:]* at (\S+): `)
	// bracket is where a pattern lacks one, and how it is mended, which the page of the container says.
	bracket = lazyregexp.New(`^(label \S+: )tag (?:include|exclude) pattern "(.*)": '.' at character \d+ has no matching bracket.*$`)
	// requested is which request failed, at a host that the cause names.
	requested  = lazyregexp.New(`^(?:GET|HEAD) \S+: (?:dial tcp(?: \S+)?: )?(?:connect: )?`)
	ofItsLabel = lazyregexp.New(`^(label \S+: )tag (?:include|exclude) pattern ("(?:[^"\\]|\\.)*": )`)
)

// Brief returns why a check failed without what stands beside it or behind its link: which registry of the
// configuration was asked for what, and that the value of a label is a pattern for tags.
func Brief(failure string) string {
	failure = askedOf().ReplaceAllString(failure, "${1}: ")
	failure = bracket().ReplaceAllString(failure, "${1}${2} has an unmatched bracket")
	return ofItsLabel().ReplaceAllString(failure, "${1}${2}")
}

// Answer returns what a registry answered to a check that failed, without what it was asked.
func Answer(failure string) string {
	if asked := askedOf().FindString(failure); asked != "" {
		return strings.TrimPrefix(failure, asked)
	}
	return failure
}

// Failure is the error of a check. It is made of parts with colons between them; what registries say stays as it is.
func Failure(err string) phrase.Phrase { return phrase.StoredParts("failures", err) }

// ownContainer is what internal/contained says of the loopback address, within its container.
const ownContainer = "%s means Dogwatch's own container: use the other container's name, or host.docker.internal for the host (it may need extra_hosts: host.docker.internal:host-gateway)"

// FailureOf says why a check failed: what other containers may fail by as well, if anything, then what was answered.
func FailureOf(cause, err string) phrase.Phrase {
	if cause == "" {
		return Failure(Brief(err))
	}
	answer, hint := answered(err)
	return phrase.Join(". ", phrase.New("%s (%s)", Cause(cause), answer), hint)
}

// AnswerOf says what was answered to a check that failed, where the cause is said beside it.
func AnswerOf(err string) phrase.Phrase {
	answer, hint := answered(err)
	return phrase.Join(". ", answer, hint)
}

func answered(err string) (answer, hint phrase.Phrase) {
	text := requested().ReplaceAllString(Answer(err), "")
	if _, why, more := strings.Cut(text, "503 service unavailable: "); more {
		text = why // the cause says that it is unavailable
	}
	if why, meaning, more := strings.Cut(text, "; "); more {
		if _, fits := phrase.Arguments(ownContainer, meaning); fits {
			text, hint = why, phrase.Sentence(phrase.Read(meaning, ownContainer))
		}
	}
	return Failure(text), hint
}
