// Package secrets takes the secrets of a container out of texts: of its log, of its health checks. What comes in are
// the container's settings and a text; only watchers import it.
package secrets

import (
	"io"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/redact"
)

var (
	// secretName is what settings are called whose values are for nobody to see.
	secretName = lazyregexp.New(`(?i)pass|pwd|secret|token|key|auth|cred|private|salt|dsn`)
	// namedSecret is a secret that a program says with its name, as in password=x, {"token": "x"} and Authorization:
	// Basic x: the second group, which begins with the quotation mark, if any. A parser's "unexpected token: x" is
	// matched without groups. Where the name means other things too (pwd=/, pass: 3), likelySecret has it.
	namedSecret = lazyregexp.New(`(?i)unexpected[ \t]+token|` +
		`((?:pass(?:word|wd|phrase)|[_.-](?:pass|pwd)|secret|token|authorization|credentials?|` +
		`(?:api|access|account|encryption|master|private|secret|session|signing)[_-]?key)` +
		`\\*["']?[ \t]*(?:=[=>]?|:=?)[ \t]*(?:(?:basic|bearer|digest|token)[ \t]+)?)` +
		`("(?:[^"\\]|\\.)+|'[^']+|\\+"[^"\\]+|[^\s"',;&]+)`)
	likelySecret = lazyregexp.New(`(?i)(bearer\s+|(?:pass|pwd)["']?\s*[=:]\s*["']?)([^\s"',;&]{8,})`)
	// remark is what is said of a secret in its place, as in "password: must not be empty", and what is none.
	remark = lazyregexp.New(`(?i)^(?:is|was|are|has|must|should|can|cannot|may|not|no|none|nil|null|undefined|true|` +
		`false|yes|ok|set|unset|empty|missing|required|expected|unknown|invalid|incorrect|wrong|malformed|mismatch|` +
		`expired|rejected|refused|denied|failed|unauthorized|forbidden|[][{}()<>|*…-]+|:.*)[.!]?$`)
	secretInURL = lazyregexp.New(`(://[^/\s:@]*:)([^/\s@]+)@`)
)

// Hiding returns what takes the secrets of a container out of a text: the values of those of its settings, variables
// and arguments, that are called so, and what looks like one. The returned function may be called concurrently.
func Hiding(settings []string) func(string) string {
	known := redact.New(secretsOf(settings)...)
	return func(text string) string {
		text = WithoutColors(strings.ToValidUTF8(text, "\uFFFD"))
		text = secretInURL().ReplaceAllString(known.Blank(text), "${1}"+redact.Blank+"@")
		text = namedSecret().ReplaceAllStringFunc(text, hideNamed)
		return likelySecret().ReplaceAllString(text, "${1}"+redact.Blank)
	}
}

// hideNamed takes the secret out of a match of namedSecret, however short it is, unless it is a remark.
func hideNamed(match string) string {
	groups := namedSecret().FindStringSubmatch(match)
	secret := strings.TrimLeft(groups[2], `\"'`)
	if secret == "" || remark().MatchString(secret) {
		return match
	}
	return strings.TrimSuffix(match, secret) + redact.Blank
}

// secretsOf returns the values of "NAME=value", and those that follow an option, which
// are secret by their name.
func secretsOf(settings []string) []string {
	var all []string
	option := ""
	for _, s := range settings {
		name, value, has := strings.Cut(s, "=")
		if !has && option != "" {
			name, value = option, s
		}
		if option = ""; !has && strings.HasPrefix(s, "-") {
			option = s
		}
		for _, in := range secretInURL().FindAllStringSubmatch(value, -1) {
			all = append(all, in[2])
		}
		if secretName().MatchString(name) {
			all = append(all, value)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "true" || s == "false" })
}

// MaxLog is how much of the end of a log is read, in bytes.
const MaxLog = 64 << 10

// EndOfLog returns the end of a log that read writes, 64 KiB at most, without secrets. What could not be read is said
// in its place.
func EndOfLog(read func(io.Writer) error, hide func(string) string) string {
	end := &Tail{Limit: MaxLog}
	if err := read(end); err != nil {
		return hide("The log could not be read: " + err.Error())
	}
	text := end.String()
	if end.Cut { // a part of a line may be a part of a secret, which would not be found
		_, text, _ = strings.Cut(text, "\n")
	}
	return hide(text)
}
