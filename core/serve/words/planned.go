package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Planned is a warning of a plan or of a new image, or what keeps a plan from being carried out. Plugins write that in
// English, and it is recorded with the operation: languages read it by the formats of their planned.json, and what is
// none of the usual texts stays as it is. The errors of files begin with the path, and mostly with a line:
// "/srv/compose.yaml:12: …".
func Planned(text string) phrase.Phrase {
	if args, fits := phrase.Arguments("%s is a major update. %s", text); fits {
		return phrase.New("%s is a major update. %s", args[0], MajorUpdate(text))
	}
	if args, fits := phrase.Arguments("%s; a pull request is opened by %s", text); fits {
		return phrase.New("%s; a pull request is opened by %s", Planned(args[0]), args[1])
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
