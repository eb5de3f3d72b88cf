package words

import (
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// State is a state in a word or two, and the class of its colour.
type State struct {
	Word  phrase.Phrase
	Class string
}

// Standing is how a container stands since its last check: "minor", "check failed", "up to date".
func Standing(c *sdk.Container) State {
	switch part := tally.PartOf(c); part {
	case tally.Update:
		kind := tally.Kind(c)
		return State{Word: Kind(kind), Class: kind}
	case tally.Broken:
		if c.Check.Succeeded() {
			return State{Word: phrase.New("wrong label"), Class: "failed"}
		}
		return State{Word: phrase.New("check failed"), Class: "failed"}
	case tally.Unchecked:
		return State{Word: phrase.New("not checked"), Class: "muted"}
	case tally.Current:
		return State{Word: phrase.New("up to date"), Class: "ok"}
	case tally.Postponed:
		return State{Word: phrase.New("postponed"), Class: "muted"}
	default:
		return State{Word: phrase.New("unknown"), Class: "muted"}
	}
}

// Kind is how large an update is; see tally.Kind and tally.Word.
func Kind(kind string) phrase.Phrase {
	switch kind {
	case sdk.KindDigest:
		return phrase.New("rebuilt")
	case tally.Other:
		return phrase.New("newer")
	}
	return phrase.Read(kind, "major", "minor", "patch", "prerelease")
}

// Decided is the state of a decision: "held".
func Decided(state string) phrase.Phrase { return phrase.Read(state, "held", "offered", "automatic") }

// Reason is a reason of a held update in two or three words.
func Reason(code string) phrase.Phrase {
	switch code {
	case policy.ReasonThreshold:
		return phrase.New("too large a step")
	case policy.ReasonMinAge:
		return phrase.New("too new")
	case policy.ReasonWindow:
		return phrase.New("window closed")
	case policy.ReasonFreeze:
		return phrase.New("freeze")
	case policy.ReasonSkipRule:
		return phrase.New("skipped by a rule")
	case policy.ReasonSkipped:
		return phrase.New("skipped")
	case policy.ReasonSnoozed:
		return phrase.New("snoozed")
	case policy.ReasonCameBack:
		return phrase.New("did not work")
	case policy.ReasonMajor:
		return phrase.New("major update")
	case policy.ReasonUndone:
		return phrase.New("rolled back by you")
	case policy.ReasonInvalidRule:
		return phrase.New("wrong rule")
	case policy.ReasonSecurity:
		return phrase.New("security fix")
	}
	return phrase.New("held")
}

// Down is the state of a component or a plugin that failed; other languages call that by a word of its own.
func Down() phrase.Phrase { return phrase.Translated("failed", phrase.New("failed component")) }

// DownCount says how many components or plugins failed.
func DownCount(n int) phrase.Phrase {
	return phrase.Translated(strconv.Itoa(n)+" failed", phrase.New("failed components: %d", n))
}

// statuses are those of containers, as the Docker Engine API names them.
var statuses = map[string]phrase.Phrase{
	"created": phrase.New("created"), "running": phrase.New("running"), "paused": phrase.New("paused"),
	"restarting": phrase.New("restarting"), "removing": phrase.New("removing"), "exited": phrase.New("exited"),
	"dead": phrase.New("dead"),
}

// Left says how a new container that did not work was left, from its status in the words of the engine: "exited, exit
// code 3", "running, unhealthy". What runs has no exit code.
func Left(status string, exitCode int) phrase.Phrase {
	var said []phrase.Phrase
	for word := range strings.SplitSeq(status, ", ") {
		said = append(said, Status(word))
	}
	if !strings.HasPrefix(status, "running") && !strings.HasPrefix(status, "paused") {
		said = append(said, phrase.New("exit code %s", strconv.Itoa(exitCode)))
	}
	return phrase.Join(", ", said...)
}

// Status is what a container does, as its engine says: "running", "exited".
func Status(status string) phrase.Phrase {
	if known, has := statuses[status]; has {
		return known
	}
	return phrase.Verbatim(status)
}
