package label

import (
	"strings"
)

// drydockPrefix starts the labels of Drydock.
const drydockPrefix = "dd."

func translateDrydock(full, value string) Translation {
	name := strings.TrimPrefix(full, drydockPrefix)
	switch name {
	case Watch, WatchDigest, TagInclude, TagExclude, TagTransform, LinkTemplate, DisplayName, DisplayIcon,
		TriggerInclude, TriggerExclude, ComposeFile:
		return same(name, value)
	case "notification.include", "action.include":
		return Translation{Name: TriggerInclude, Value: value, Note: "there is one list for notifications and actions: triggers that are not in it do not run"}
	case "notification.exclude", "action.exclude":
		return same(TriggerExclude, value)
	case "tag.family":
		if strings.EqualFold(strings.TrimSpace(value), "strict") {
			return Translation{}
		}
		return none("tags of other families are offered only if dogwatch.tag.include asks for them")
	case "tag.pin.info":
		return none("a versioned tag is always compared with newer versions")
	case "display.picture":
		return none("there is no picture beside the icon")
	case "registry.lookup.image", "registry.lookup.url":
		return none("the image is looked up where it was pulled from; a mirror is an option of the registry")
	case "group", "port.label", "source.repo", "inspect.tag.path", "inspect.tag.version-only":
		return none("there is nothing of the kind")
	case "action.auto":
		return none("whether a trigger runs by itself is its option auto")
	case "update.mode", "update.rollback-gate", "depends_on", "depends_on.action", "webhook.enabled", "security.gate":
		return none("Dogwatch does not update containers by itself")
	}
	for _, group := range []string{"hook.", "rollback.", "runtime.", "compose.", "security."} {
		if strings.HasPrefix(name, group) {
			return none("Dogwatch does not update containers by itself")
		}
	}
	if strings.HasPrefix(strings.ToLower(name), "updatepolicy.") {
		return none("an update is offered as soon as it is there; dogwatch.tag.exclude skips tags")
	}
	return misspelt(drydockPrefix, name, append(Names(), "notification.include", "notification.exclude", "action.include", "action.exclude")...)
}
