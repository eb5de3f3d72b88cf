package doctor

import (
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/app/wiring"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/sdk"
)

// labels tells what is wrong with single containers, whose labels are read as a check reads them.
func (e *examination) labels(containers []sdk.Container) []Finding {
	var ids []string
	for _, t := range e.Installation.Triggers() {
		ids = append(ids, strings.TrimPrefix(t.ID, "trigger."))
	}
	var found []Finding
	heeded := wiring.Labels(e.Config)
	for _, c := range containers {
		subject := "container " + c.Watcher + "/" + c.Name
		if c.Error != nil {
			found = append(found, Finding{Subject: subject, Level: Fail, Detail: c.Error.Message})
		}
		wrong, odd := labels.Lint(c, heeded)
		for _, text := range wrong {
			found = append(found, Finding{Subject: subject, Level: Fail, Detail: text})
		}
		for _, text := range append(odd, label.UnknownTriggers(label.Read(label.Of(c), heeded), ids)...) {
			found = append(found, Finding{Subject: subject, Level: Warn, Detail: text})
		}
	}
	found = append(found, e.rules(containers)...)
	if len(found) == 0 && len(containers) > 0 {
		return one("labels", OK, fmt.Sprintf("understood those of %s", phrase.Count(len(containers), "container")), "")
	}
	return found
}
