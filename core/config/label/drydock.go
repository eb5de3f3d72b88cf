package label

import (
	"fmt"
	"regexp"
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
		return Translation{
			Name: TriggerInclude, Value: value,
			Note: "there is one list for notifications and actions: triggers that are not in it do not run",
		}
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
		if on, ok := flag(value); ok && !on {
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
	case "security.gate":
		return none("scan.hold has updates wait that add vulnerabilities, whatever the container")
	case "webhook.enabled":
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
	if rule, found := strings.CutPrefix(strings.ToLower(name), "updatepolicy."); found {
		return drydockPolicy(rule, value)
	}
	return misspelt(drydockPrefix, name,
		append(Names(), "notification.include", "notification.exclude", "action.include", "action.exclude")...)
}

// drydockAge is how old it wants updates to be where only the mode is written.
const drydockAge = "7d"

// drydockPolicy translates a rule below dd.updatePolicy. A mode counts together with
// the days: see Reading.add.
func drydockPolicy(rule, value string) Translation {
	switch rule {
	case "maturitymode":
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "mature":
			return same(UpdateMinAge, drydockAge)
		case "all":
			return same(UpdateMinAge, noAge)
		}
		return none(fmt.Sprintf("want all or mature, got %.40q", value))
	case "maturityminagedays":
		days, err := strconv.ParseUint(strings.TrimSpace(value), 10, 12)
		if err != nil || days == 0 {
			return none(fmt.Sprintf("want days, got %.40q", value))
		}
		return same(UpdateMinAge, strconv.FormatUint(days, 10)+"d")
	case "skiptags", "skipdigests":
		return same(UpdateSkip, exactly(value))
	}
	return misspelt(drydockPrefix, "updatePolicy."+rule, "updatePolicy.maturityMode", "updatePolicy.maturityMinAgeDays",
		"updatePolicy.skipTags", "updatePolicy.skipDigests")
}

// exactly writes a list, separated by commas, as an expression that matches its items.
func exactly(list string) string {
	var all []string
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			all = append(all, regexp.QuoteMeta(item))
		}
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return "^" + all[0] + "$"
	}
	return "^(" + strings.Join(all, "|") + ")$"
}

// drydockTime: there it is in milliseconds.
func drydockTime(name, value string) Translation {
	millis, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
	if err != nil || millis == 0 {
		return none(fmt.Sprintf("want milliseconds, got %.40q", value))
	}
	return same(name, strconv.FormatUint(millis, 10)+"ms")
}
