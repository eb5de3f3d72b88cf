package operations

import (
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/internal/webaddress"
)

// planDetails is what a user should know of an update beside its plan.
type planDetails struct {
	// Kind is how much it changes; "" for a rollback.
	Kind string
	// Levels are the versions to choose from; nil where there is one only.
	Levels []Level
	// Releases are those whose notes warn of something.
	Releases []Release
	// Target is what a choice about the update names, and Window when it is carried out once it is approved; nil for at
	// once.
	Target string
	Window phrase.Phrase
	// Tried is that of the Level of the plan.
	Tried time.Time
}

// Level is a version to choose, which To leads to.
type Level struct {
	Tag, Kind, To string
	Chosen        bool
	// Skipped says who skipped it; "" for nobody.
	Skipped string
	// Tried is when an update to it did not work last; zero for never.
	Tried time.Time
}

// triedOf returns when the latest update to a version did not work, by its tag, of operations with the newest first.
func triedOf(found []operation.Operation) map[string]time.Time {
	tried, seen := map[string]time.Time{}, map[string]bool{}
	for _, op := range found {
		tag := words.TagOf(op.Image.Reference)
		if op.State == operation.RolledBack && op.Kind == operation.Update && !seen[tag] && !words.Interrupted(op) {
			tried[tag] = op.Ended
		}
		seen[tag] = seen[tag] || op.State == operation.RolledBack || op.State == operation.Succeeded
	}
	return tried
}

// Release is a release with what its notes warn of and demand, as text.
type Release struct {
	Version, Link    string
	Breaking, Action []string
}

// planDetailsOf returns the view of details; path is the page of the plan.
func (h *Handler) planDetailsOf(o service.PlanDetails, path string) planDetails {
	v := planDetails{Kind: o.Kind, Target: o.Version}
	if !o.Window.From.IsZero() {
		v.Window = o.Window
	}
	for _, l := range o.Levels {
		v.Levels = append(v.Levels, Level{
			Tag: words.Tag(l.Tag), Kind: l.Kind, To: path + page.Query(map[string]string{"version": l.Tag}), Chosen: l.Chosen,
			Skipped: l.Skipped,
		})
	}
	v.Releases = ReleasesOf(h.Site, o.Warnings)
	return v
}

// ReleasesOf returns the view of releases that warn of something.
func ReleasesOf(site *page.Site, warnings []service.ReleaseWarning) (all []Release) {
	for _, w := range warnings {
		all = append(all, Release{
			Version: w.Version, Link: webaddress.Of(w.URL), Breaking: site.PlainLines(w.Breaking),
			Action: site.PlainLines(w.Action),
		})
	}
	return all
}
