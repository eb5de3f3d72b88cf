package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/check"
	"github.com/dogwatch/dogwatch/core/label"
	"github.com/dogwatch/dogwatch/core/wiring"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
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
		wrong, odd := check.Lint(c, heeded)
		for _, text := range wrong {
			found = append(found, Finding{Subject: subject, Level: Fail, Detail: text})
		}
		for _, text := range append(odd, unknownTriggers(label.Read(label.Of(c), heeded), ids)...) {
			found = append(found, Finding{Subject: subject, Level: Warn, Detail: text})
		}
	}
	found = append(found, e.rules(containers)...)
	if len(found) == 0 && len(containers) > 0 {
		return one("labels", OK, fmt.Sprintf("understood those of %s", count(len(containers), "container")), "")
	}
	return found
}

// unknownTriggers finds triggers in labels that are not configured.
func unknownTriggers(given label.Reading, ids []string) []string {
	var found []string
	for _, name := range []string{label.TriggerInclude, label.TriggerExclude} {
		rule, _ := given.Get(name)
		for _, item := range strings.Split(rule.Value, ",") {
			id, _, _ := strings.Cut(item, ":")
			id = strings.ToLower(strings.TrimSpace(id))
			if id == "" || slices.Contains(ids, id) {
				continue
			}
			text := fmt.Sprintf("%s names the trigger %q, which is not configured", rule.Source(), id)
			if near := option.Suggest(id, ids); near != "" {
				text += fmt.Sprintf(": did you mean %s?", near)
			}
			found = append(found, text)
		}
	}
	return found
}
