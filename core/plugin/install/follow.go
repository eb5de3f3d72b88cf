package install

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

// errUndated is said of a signature of content alone.
var errUndated = errors.New(
	"its signature does not say which version it is, so that an old file could pass for a new one: " +
		`ask its publisher for one with the trusted comment "dogwatch-plugin NAME VERSION PLATFORM", ` +
		"as dogwatch plugin package --sign makes it, or add --allow-downgrade if you know that it is newer",
)

// mayFollow refuses what is no later version of the plugin that is installed under a name,
// nil for none: another plugin of the same publisher, and a version that is signed as
// the same or an older one. The version of what is not signed is only claimed; there an
// older one is refused as a mistake.
func mayFollow(before *Pin, name string, got artifact.Fetched, r Request) error {
	title := name
	if before != nil {
		title = cmp.Or(before.Title, name)
	}
	if signed := got.Signed.Name; signed != "" && signed != title && !r.Renamed {
		return fmt.Errorf("it is signed as the plugin %s, and wanted is %s: refused; if you want that one under the name "+
			"%s, run dogwatch plugin install with --name %s", signed, title, name, name)
	}
	if before == nil || before.SHA256 == got.SHA256 || r.Downgrade {
		return nil
	}
	version := got.Version
	if !got.Key.IsZero() {
		if version = got.Signed.Version; version == "" {
			return errUndated
		}
	}
	order, comparable := artifact.CompareVersions(version, before.Version)
	switch {
	case before.Version == "" || version == "" || order > 0:
		return nil
	case got.Key.IsZero() && (!comparable || order == 0):
		return nil
	case !comparable:
		return fmt.Errorf("whether its version %s is newer than %s, which is installed, cannot be told: "+
			"to install it, add --allow-downgrade", version, before.Version)
	}
	return fmt.Errorf("its version %s is not newer than %s, which is installed: to go back, run dogwatch plugin rollback %s, "+
		"or add --allow-downgrade", version, before.Version, name)
}
