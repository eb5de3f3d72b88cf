package label

import (
	"strings"
)

// watchtowerPrefix starts the labels of Watchtower:
// https://containrrr.dev/watchtower/container-selection/
const watchtowerPrefix = "com.centurylinklabs.watchtower."

func translateWatchtower(full, value string) Translation {
	if full+"." == watchtowerPrefix {
		return Translation{Note: "marks the container of Watchtower: as long as it runs, containers are updated behind the back of Dogwatch"}
	}
	name := strings.TrimPrefix(full, watchtowerPrefix)
	switch name {
	case "enable":
		return same(Watch, value)
	case "no-pull":
		return watchtowerNoPull(value)
	case "monitor-only":
		return watchtowerMonitor(value)
	case "scope":
		return none("every watcher sees all containers of its engine; dogwatch.watch chooses among them")
	case "cooldown-delay":
		return none("an update is offered as soon as it is there")
	case "depends-on", "stop-signal", "container-chain", "ephemeral-orchestrator":
		return none("Dogwatch does not update containers by itself")
	}
	if strings.HasPrefix(name, "lifecycle.") {
		return none("Dogwatch runs no commands in containers")
	}
	return misspelt(watchtowerPrefix, name, "enable", "monitor-only", "no-pull", "scope", "depends-on", "stop-signal", "cooldown-delay")
}

// watchtowerNoPull: such an image is compared with what the engine has, and its
// registry is not asked. Dogwatch has nothing else to ask.
func watchtowerNoPull(value string) Translation {
	is, ok := flag(value)
	switch {
	case !ok:
		return notFlag(value)
	case is:
		return Translation{Name: Watch, Value: "false", Note: "its registry is not to be asked, so it is not watched"}
	}
	return Translation{}
}

func watchtowerMonitor(value string) Translation {
	is, ok := flag(value)
	switch {
	case !ok:
		return notFlag(value)
	case is:
		return Translation{Note: "is what Dogwatch does by itself; dogwatch.trigger.exclude keeps triggers that act away"}
	}
	return none("Dogwatch does not update containers by itself")
}
