package label

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// UnknownTriggers returns a sentence for each trigger in the labels of a container that is not among the ids of those
// that are configured.
func UnknownTriggers(given Reading, ids []string) []string {
	var found []string
	for _, name := range []string{TriggerInclude, TriggerExclude} {
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
