package dispatch

import (
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

// accepts reports whether a trigger is notified of the update of a container: by
// its own threshold, whether it runs for rebuilds, and by the include and exclude labels of the container.
func accepts(t Trigger, c sdk.Container) bool {
	rebuild := policy.IsRebuild(c.UpdateKind.Kind, c.UpdateKind.SemverDiff)
	if !passes(t.Threshold, c.UpdateKind) || rebuild && t.OnDigest != nil && !t.OnDigest(c) {
		return false
	}
	included, listed := find(c.TriggerInclude, t.ID)
	switch {
	case strings.TrimSpace(c.TriggerInclude) == "" && !t.IncludeByDefault:
		return false
	case strings.TrimSpace(c.TriggerInclude) != "" && (!listed || !passes(included, c.UpdateKind)):
		return false
	}
	excluded, listed := find(c.TriggerExclude, t.ID)
	return !listed || !passes(excluded, c.UpdateKind)
}

// Associated reports whether a trigger can run for some update of a container,
// and the threshold that the container's include label gives it ("" when the label gives none).
func Associated(id string, includeByDefault bool, c sdk.Container) (threshold string, ok bool) {
	threshold, listed := find(c.TriggerInclude, id)
	if strings.TrimSpace(c.TriggerInclude) == "" {
		listed = includeByDefault
	}
	excluded, out := find(c.TriggerExclude, id)
	return threshold, listed && !(out && excluded == thresholdAll)
}

// find looks a trigger up in a label such as "smtp.main:minor, docker.local"
// and returns its threshold there. It reads as WUD does: ids are compared
// without regard to case, thresholds with it; the first item that names the
// trigger wins; white space counts only at the two ends of the label.
func find(label, id string) (threshold string, listed bool) {
	items := strings.Split(label, ",")
	for i, item := range items {
		if i > 0 {
			item = strings.TrimLeftFunc(item, unicode.IsSpace)
		}
		if i < len(items)-1 {
			item = strings.TrimRightFunc(item, unicode.IsSpace)
		}
		name, threshold, cut := strings.Cut(item, ":")
		if cut {
			name = strings.TrimRightFunc(name, unicode.IsSpace)
			threshold = strings.TrimLeftFunc(threshold, unicode.IsSpace)
		}
		if !strings.EqualFold(name, id) {
			continue
		}
		if !slices.Contains(policy.Thresholds(), threshold) {
			threshold = thresholdAll
		}
		return threshold, true
	}
	return "", false
}

const thresholdAll = "all"

func passes(threshold string, u sdk.UpdateKind) bool {
	return policy.Passes(threshold, u.Kind, u.SemverDiff)
}
