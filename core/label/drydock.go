package label

import (
	"fmt"
	"strconv"
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
		if is, ok := flag(value); ok && !is {
			return same(UpdateAuto, "false")
		}
		return none("whether a trigger runs by itself is its option auto")
	case "rollback.window":
		return drydockTime(ProbeWindow, value)
	case "rollback.interval":
		return drydockTime(ProbeInterval, value)
	case "rollback.auto", "update.rollback-gate":
		return none("an update that does not work always returns to the old container, and is not tried again by itself")
	case "update.mode":
		return none("how a container is updated depends on what it is, such as the socket proxy or Dogwatch itself")
	case "depends_on", "depends_on.action":
		return none("what shares the network, processes or IPC of a container, or depends on it in Compose, is found by itself")
	case "webhook.enabled", "security.gate":
		return none("there is nothing of the kind")
	}
	switch group, _, _ := strings.Cut(name, "."); group {
	case "hook":
		return none("its commands run in the container of Drydock, those of dogwatch.hook.pre and dogwatch.hook.post in the one that is updated")
	case "compose":
		return none("how compose files are edited is an option of the watcher or the trigger")
	case "runtime", "security":
		return none("there is nothing of the kind")
	}
	if strings.HasPrefix(strings.ToLower(name), "updatepolicy.") {
		return none("an update is offered as soon as it is there; dogwatch.tag.exclude skips tags")
	}
	return misspelt(drydockPrefix, name, append(Names(), "notification.include", "notification.exclude", "action.include", "action.exclude")...)
}

// drydockTime: there it is in milliseconds.
func drydockTime(name, value string) Translation {
	millis, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
	if err != nil || millis == 0 {
		return none(fmt.Sprintf("want milliseconds, got %.40q", value))
	}
	return same(name, strconv.FormatUint(millis, 10)+"ms")
}
