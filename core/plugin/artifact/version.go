package artifact

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// versionForm is a version as Semantic Versioning 2.0.0 has it, with any number of numbers.
var versionForm = lazyregexp.New(`^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$`)

// CompareVersions compares two versions by the precedence of Semantic Versioning 2.0.0,
// section 11. It returns false when one of them is none.
func CompareVersions(a, b string) (order int, comparable bool) {
	x, y := versionForm().FindStringSubmatch(a), versionForm().FindStringSubmatch(b)
	if x == nil || y == nil {
		return 0, false
	}
	return cmp.Or(compareParts(x[1], y[1], "0"), comparePrerelease(x[2], y[2])), true
}

// compareParts compares identifiers between dots; missing ones are as rest says.
func compareParts(a, b, rest string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		p, q := rest, rest
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if order := compareIdentifier(p, q); order != 0 {
			return order
		}
	}
	return 0
}

// comparePrerelease: a release comes after all its prereleases.
func comparePrerelease(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	return compareParts(a, b, "")
}

// compareIdentifier: numbers come before words, and nothing before both.
func compareIdentifier(a, b string) int {
	numeric := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	class := func(s string) int {
		switch {
		case s == "":
			return 0
		case numeric(s):
			return 1
		}
		return 2
	}
	if class(a) == 1 && class(b) == 1 {
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
	return cmp.Or(cmp.Compare(class(a), class(b)), strings.Compare(a, b))
}

// TagOf returns a version as a tag may be written, where + is not allowed.
func TagOf(version string) string { return strings.ReplaceAll(version, "+", "-") }

// CheckTag refuses an artifact of another version than its tag says: an old one that was
// pushed again as a newer one. A tag that floats, as 1.2 does over 1.2.3, may, and
// one that is no version says nothing.
func CheckTag(named, version string) error {
	selector, err := tag.Compile(tag.Rules{})
	if err != nil || named == "" || !selector.IsVersion(named) {
		return err
	}
	tagged, wanted := strings.TrimPrefix(named, "v"), strings.TrimPrefix(TagOf(version), "v")
	floats := strings.Trim(tagged, "0123456789.") == "" && strings.HasPrefix(wanted, tagged+".")
	if order, comparable := CompareVersions(tagged, wanted); tagged == wanted || floats || comparable && order == 0 {
		return nil
	}
	return fmt.Errorf("the tag says version %s, and the plugin is version %s: refused, since an old version could pass for a "+
		"new one; if you want that version, look for a tag of its own", named, cmp.Or(version, "unknown"))
}
