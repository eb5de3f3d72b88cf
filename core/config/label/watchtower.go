package label

import (
	"fmt"
	"strconv"
	"strings"
)

// watchtowerPrefix starts the labels of Watchtower:
// https://containrrr.dev/watchtower/container-selection/
const watchtowerPrefix = "com.centurylinklabs.watchtower."

func translateWatchtower(full, value string) Translation {
	if full+"." == watchtowerPrefix {
		return Translation{
			Note: "marks the container of Watchtower: as long as it runs, containers are updated behind the back of Dogwatch",
		}
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
		return same(UpdateMinAge, watchtowerAge(value))
	case "stop-signal":
		return same(UpdateStopSignal, value)
	case "depends-on":
		return none("what shares the network, processes or IPC of a container, or depends on it in Compose, is found by itself")
	case "container-chain", "ephemeral-orchestrator":
		return none("there is nothing of the kind")
	case "lifecycle.pre-update":
		return Translation{Name: HookPre, Value: value, Note: hooksNote}
	case "lifecycle.post-update":
		return Translation{Name: HookPost, Value: value, Note: hooksNote}
	case "lifecycle.pre-update-timeout", "lifecycle.post-update-timeout":
		return watchtowerTimeout(value)
	case "lifecycle.pre-check", "lifecycle.post-check":
		return none("commands run around updates only, not around checks")
	case "lifecycle.uid", "lifecycle.gid":
		return none("commands run as the user of the container")
	}
	if strings.HasPrefix(name, "lifecycle.") {
		return none("commands run around updates only: dogwatch.hook.pre and dogwatch.hook.post")
	}
	return misspelt(watchtowerPrefix, name, "enable", "monitor-only", "no-pull", "scope", "depends-on", "stop-signal",
		"cooldown-delay")
}

// watchtowerAge writes months, which end with a capital M, as days. All else is
// written as here.
func watchtowerAge(value string) string {
	value = strings.TrimSpace(value)
	months, ok := strings.CutSuffix(value, "M")
	if n, err := strconv.ParseUint(months, 10, 6); ok && err == nil {
		return strconv.FormatUint(30*n, 10) + "d"
	}
	return value
}

// watchtowerNoPull: such an image is compared with what the engine has, and its
// registry is not asked. Dogwatch has nothing else to ask.
func watchtowerNoPull(value string) Translation {
	on, ok := flag(value)
	switch {
	case !ok:
		return notFlag(value)
	case on:
		return Translation{Name: Watch, Value: "false", Note: "its registry is not to be asked, so it is not watched"}
	}
	return Translation{}
}

func watchtowerMonitor(value string) Translation {
	on, ok := flag(value)
	switch {
	case !ok:
		return notFlag(value)
	case on:
		return same(UpdateAuto, "false")
	}
	return none("containers are updated by themselves where a trigger does so")
}

// watchtowerTimeout: there it is in minutes, and 0 means none. One time holds for both commands here.
func watchtowerTimeout(value string) Translation {
	minutes, err := strconv.Atoi(strings.TrimSpace(value))
	switch {
	case err != nil || minutes < 0 || minutes > maxHookMinutes:
		return none(fmt.Sprintf("want minutes, got %.40q", value))
	case minutes == 0:
		return Translation{
			Name: HookTimeout, Value: strconv.Itoa(maxHookMinutes) + "m", Note: "a command may not take for ever",
		}
	}
	return same(HookTimeout, strconv.Itoa(minutes)+"m")
}

// maxHookMinutes is the longest time that a command may take.
const maxHookMinutes = 60

const hooksNote = "it runs where the watcher's option hooks is true"
