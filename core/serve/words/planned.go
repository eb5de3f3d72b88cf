package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Planned is a warning of a plan, or what keeps it from being carried out. Plugins write that in English, and it is
// recorded with the operation: languages read it by the formats of their planned.json, and what is none of the usual
// texts stays as it is. The errors of files begin with the path, and mostly with a line: "/srv/compose.yaml:12: …".
func Planned(text string) phrase.Phrase {
	if args, fits := phrase.Arguments("%s is a major update. %s", text); fits {
		return phrase.New("%s is a major update. %s", args[0], MajorUpdate(text))
	}
	where, sentence, isFile := strings.Cut(text, ": ")
	if isFile && strings.HasPrefix(where, "/") {
		return phrase.Join(": ", phrase.Verbatim(where), Planned(sentence))
	}
	return phrase.Stored("planned", text)
}

// MajorUpdate says what a major update takes, for who is told already that it is one; see Planned.
func MajorUpdate(text string) phrase.Phrase {
	_, takes, found := strings.Cut(text, " is a major update. ")
	if !found {
		return Planned(text)
	}
	said := phrase.Read(takes,
		"Back up its volumes first: a rollback brings back the old container, but not the data as it was.")
	if !phrase.IsVerbatim(said) {
		return said
	}
	return preset.Said(takes)
}

// ImageWarning is what to know of a new image.
func ImageWarning(text string) phrase.Phrase {
	return phrase.Read(text,
		"runs as another user: %s instead of %s; files that it wrote before may not be its own",
		"has a new volume %s: what is written there is lost with the container unless something is mounted",
		"no longer has the volume %s: what is there may be looked for elsewhere now",
		"no longer exposes %s",
		"starts with another entrypoint: %s instead of %s",
		"starts with another command: %s instead of %s",
		"works in another folder: %s instead of %s",
		"has no health check any more",
		"is for another platform: %s instead of %s",
		"no longer sets %s",
		"is much larger: %s MB instead of %s MB",
	)
}

// Permission says why a watcher may, or may not, update containers; see its method Updates.
func Permission(why string) phrase.Phrase {
	return phrase.Read(why,
		"neither its option %s nor a trigger of type docker or dockercompose is set",
		"its plugin does not get the capability %s",
		"the owner of %s allows no updates",
		"the trigger %s is configured",
		"its option %s is %s",
	)
}

// PermissionRemedy says what lets a watcher update containers.
func PermissionRemedy(remedy string) phrase.Phrase {
	if there, elsewhere := strings.CutPrefix(remedy, "there, "); elsewhere { // on the host of an agent
		if said := PermissionRemedy(there); !phrase.IsVerbatim(said) {
			return phrase.New("there, %s", said)
		}
		return phrase.Quote(remedy)
	}
	return phrase.Read(remedy,
		"set %s to true, or configure a docker or dockercompose trigger",
		"set %s to true",
	)
}
