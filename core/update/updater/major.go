package updater

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// major returns what to do before a major update of a container with data: what is known of its image or, for
// other images, that the data does not return with the old container.
func (r *Runner) major(req Request, p planned) []watcher.Reason {
	if r.opt.Major == nil || req.Kind != operation.Update {
		return nil
	}
	advice, isMajor := r.opt.Major(req.Container)
	if !isMajor || advice == "" && !hasData(p) {
		return nil
	}
	text := fmt.Sprintf("%s is a major update. ", p.request.Image.Reference)
	if advice == "" {
		text += "Back up its volumes first: a rollback brings back the old container, but not the data as it was."
	}
	return []watcher.Reason{{Code: WarnMajor, Text: text + advice}}
}

// hasData reports whether a container has volumes, or the new image declares some.
func hasData(p planned) bool {
	if config := p.request.Image.Config; config != nil && len(config.Volumes) > 0 {
		return true
	}
	return slices.ContainsFunc(p.plan.Carried, func(s watcher.Setting) bool { return strings.HasPrefix(s.Name, "volume ") })
}
