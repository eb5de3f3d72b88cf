package notes

import (
	"path"
	"slices"

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
