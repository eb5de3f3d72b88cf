package preview

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Source says where a rule comes from, or by which rule something was begun: "policies.careful.update" is the policy
// careful, "preset nextcloud" what Dogwatch knows of Nextcloud. A user, a trigger and every other setting go by name.
func Source(source string) phrase.Phrase {
	source = strings.TrimPrefix(source, "rule ")
	switch kind, name, _ := strings.Cut(source, " "); kind {
	case "preset":
		return phrase.New("built-in rule for %s", name)
	case "label":
		return phrase.Read(source, "label %s from the image", "label %s")
	}
	switch parts := strings.Split(source, "."); {
	case len(parts) == 3 && parts[0] == "policies":
		return phrase.New("policy %s", parts[1])
	case len(parts) == 2 && parts[0] == "policy":
		return phrase.New("policy for all containers")
	case source == "a rule", source == "this rule":
		return phrase.Read(source, "a rule", "this rule")
	}
	return phrase.Verbatim(source)
}
