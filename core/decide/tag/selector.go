package tag

import "github.com/dogwatch/dogwatch/core/model/phrase"

// Rules is what a container's policy asks of tag selection. Empty strings mean no rule.
type Rules struct {
	Include    string // JavaScript regular expression: only matching tags are selected
	Exclude    string // JavaScript regular expression: matching tags are not selected
	Transform  string // "regex => replacement with $1": how tags are read as versions
	Prerelease bool   // offer prereleases to a container that runs a release, too
}

// Selector applies compiled Rules. It is immutable and safe for concurrent use.
type Selector struct {
	include, exclude *filter
	transform        *transform
	prerelease       bool
	path             *Path
	warnings         []phrase.Phrase // about the rules themselves
}

// Selection is the answer of Select.
type Selection struct {
	Tag   string // the best tag, or the current one when none is newer
	Newer bool   // whether Tag is newer than the current tag
	Kept  int    // how many tags are newer and allowed
	// the base of the current tag (alpine3.19) when Tag is on another one, because nothing newer is on this
	LeftBase string
	Warnings []phrase.Phrase // what the owner of the container should know: rules that have no effect, no tags left

	// Beyond is the newest tag that is left out since others come first, LeftOut how many are, and First which
	// comes first, and who says so. See Path.
	Beyond  string
	LeftOut int
	First   phrase.Phrase

	// Tags are the newer ones that may be offered, the best first, which is Tag. There
	// are at most MaxPerLevel of each level, and known ones.
	Tags []Newer
	// Leaps are those whose number is out of all proportion to the others.
	Leaps []string
}

// Newer is a tag that may be offered.
type Newer struct {
	Tag  string
	Diff string // the step from the current tag; see Selector.Diff
}

// Reason says what became of a tag. The values are stable.
type Reason string

// What can become of a tag. The first two are kept, all others are dropped.
const (
	ReasonNewest            Reason = "newest"              // the selected tag
	ReasonNewer             Reason = "newer"               // allowed and newer, but not the newest
	ReasonCurrent           Reason = "current"             // the current tag itself
	ReasonArtifact          Reason = "artifact"            // no image: a signature, say, or a Helm chart
	ReasonSHA               Reason = "sha"                 // begins with sha, and there is no include rule
	ReasonInclude           Reason = "include"             // does not match the include rule
	ReasonExclude           Reason = "exclude"             // matches the exclude rule
	ReasonCurrentNotVersion Reason = "current-not-version" // nothing can be newer than the current tag
	ReasonPrefix            Reason = "prefix"              // another text before the numbers
	ReasonNotVersion        Reason = "not-version"         // the (transformed) tag is no version
	ReasonCount             Reason = "count"               // more or fewer numbers
	ReasonFamily            Reason = "family"              // another suffix
	ReasonPrerelease        Reason = "prerelease"          // a prerelease, and the current tag is nearer to a release
	ReasonDate              Reason = "date"                // a date for a version, or the other way round
	// begins with a year or a long number, and the current tag does not
	ReasonCalendar    Reason = "calendar"
	ReasonBase        Reason = "base"        // newer, but on another base, and the current base has newer tags
	ReasonNotNewer    Reason = "not-newer"   // older or equal
	ReasonImplausible Reason = "implausible" // newer by its number, but built long before what runs
	ReasonStep        Reason = "step"        // newer, but another version must not be left out
)

// Compile prepares rules. The error is a *RuleError. Rules that compile and yet can
// have no effect become warnings of each Selection.
func Compile(r Rules) (*Selector, error) {
	s := &Selector{prerelease: r.Prerelease}
	var err error
	if s.include, err = compileFilter("include", r.Include); err != nil {
		return nil, err
	}
	if s.exclude, err = compileFilter("exclude", r.Exclude); err != nil {
		return nil, err
	}
	t, warning, err := compileTransform(r.Transform)
	if err != nil {
		return nil, err
	}
	s.transform = t
	for _, w := range []phrase.Phrase{s.include.hint(), s.exclude.hint(), warning} {
		if w != nil {
			s.warnings = append(s.warnings, w)
		}
	}
	return s, nil
}

// Transform returns the text that decides what version a tag is: the tag itself when
// there is no transform, it does not match, or it takes too long.
func (s *Selector) Transform(tag string) string {
	text, _, err := s.transform.apply(tag)
	if err != nil {
		return tag
	}
	return text
}

// IsVersion reports whether the transformed tag is a version. Only then can Select find
// a newer tag.
func (s *Selector) IsVersion(tag string) bool {
	var v version
	return s.read(&v, s.Transform(tag))
}

// Diff classifies the step between two tags: "major", "minor", "patch", "prerelease",
// or "unknown" when one is no version or the versions are equal. A fourth number that
// differs is a "patch", and a suffix number (-ls45) is a "prerelease", as WUD says. Where
// the suffix has versions of what else is in the image (16-3.4, 14-vectorchord0.3.0), the
// largest step counts.
func (s *Selector) Diff(from, to string) string {
	var a, b version
	if !s.read(&a, s.Transform(from)) || !s.read(&b, s.Transform(to)) {
		return "unknown"
	}
	return difference(&a, &b)
}

// Parts returns the numbers of a tag in decimal, for link templates, and the first
// identifier of its prerelease. All are empty when the tag is no version.
func (s *Selector) Parts(tag string) (major, minor, patch, prerelease string) {
	var v version
	if !s.read(&v, s.Transform(tag)) {
		return "", "", "", ""
	}
	return decimal(v.part(0)), decimal(v.part(1)), decimal(v.part(2)), v.prerelease()
}

// read reads a transformed text. Without an include pattern, the numbers of runtimes
// and hosts belong to the family.
func (s *Selector) read(v *version, text string) bool {
	return v.read(text, reading{runtimes: s.include == nil, bases: true})
}

// Path says which versions must not be left out on the way to a newer one.
type Path struct {
	// Line is how many numbers name a release line of which none may be left out; 0 if any may be.
	Line int
	// Stops are versions that must not be passed without a stay, in order: "16.3". On the way to one, and once the
	// last is passed, others may be left out.
	Stops []string
	// Source says who says so, for explanations.
	Source phrase.Phrase
}
