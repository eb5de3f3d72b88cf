package notes

import (
	"path"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxNotes is how many releases are shown at once.
const maxNotes = 50

// running returns the version that a container runs: its tag, or that of its image where
// the tag has none or is less precise; "" when neither says one.
func running(c *sdk.Container) string {
	tagged, ok := parseVersion(c.Image.Tag.Value)
	for _, text := range []string{c.Image.Version, c.Labels[oldVersionLabel]} {
		if v, labelled := parseVersion(text); labelled && len(text) <= maxName && (!ok || tagged.covers(v)) {
			return text
		}
	}
	if ok {
		return c.Image.Tag.Value
	}
	return ""
}

// offered returns the version that a container is offered: the newer tag, or that of the new
// image behind its tag; "" when that is not known.
func offered(c *sdk.Container) string {
	text := c.Result.Tag
	if c.UpdateKind.Kind != sdk.KindTag {
		text = c.Result.Version
	}
	if _, ok := parseVersion(text); ok {
		return text
	}
	return ""
}

// names are what tags of a repository may begin with before the version of an image: the name of
// the repository, and where there are several in it, that of the image.
func names(r Repository, c *sdk.Container) []string {
	return []string{path.Base(r.Path), path.Base(c.Watched().Name)}
}

// versionedRelease is a release with its version.
type versionedRelease struct {
	release
	version
}

// reaches reports whether releases are all that are shown, so that older ones are not needed.
func (n *Notes) reaches(all []release, names []string) bool {
	passed, reached := n.between(all, names)
	return reached || len(passed) > maxNotes || n.Running == "" && (n.Offered == "" || len(passed) > 0)
}

// between returns the releases between the versions, and whether there are older ones.
func (n *Notes) between(all []release, names []string) (passed []versionedRelease, reached bool) {
	from, hasFrom := parseVersion(n.Running, names...)
	to, hasTo := parseVersion(n.Offered, names...)
	if !hasFrom && !hasTo {
		return nil, false
	}
	for _, one := range all {
		v, ok := parseVersion(one.Tag, names...)
		if !ok {
			continue
		}
		v.prerelease = v.prerelease || one.Prerelease
		isTo := hasTo && to.covers(v) && (!to.prerelease || v.compare(to) <= 0)
		switch {
		case hasFrom && v.compare(from) <= 0:
			reached = true
		case hasTo && v.compare(to) > 0 && !isTo:
		case v.prerelease && !(hasTo && to.prerelease):
		case !hasFrom && !isTo: // what came before it is not known to be new
		default:
			passed = append(passed, versionedRelease{one, v})
		}
	}
	slices.SortStableFunc(passed, func(a, b versionedRelease) int { return b.compare(a.version) })
	return passed, reached
}

// choose takes the releases between the versions.
func (n *Notes) choose(all []release, r Repository, names []string) {
	passed, reached := n.between(all, names)
	_, hasFrom := parseVersion(n.Running, names...)
	n.Incomplete = hasFrom && !reached && len(all) > 0 || len(passed) > maxNotes
	for _, c := range passed[:min(len(passed), maxNotes)] {
		note := Note{
			Version: c.Tag, Name: c.Name, Date: sdk.Time{Time: c.At}, URL: r.pageURL(c.Tag), Body: c.Body,
			Truncated: c.Cut, Breaking: c.Breaking, Action: c.Action,
		}
		n.Notes = append(n.Notes, note)
	}
}

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
