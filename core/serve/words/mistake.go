package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Mistake is an error that pages show. Errors are made of parts with colons between them; those that Dogwatch itself
// writes are read, and those of registries, engines and plugins stay as they are.
func Mistake(err string) phrase.Phrase { return partly(err, mistake) }

// partly says an error part by part; what read does not know is quoted, with the parts beside it that it does not know
// either.
func partly(err string, read func(part string) phrase.Phrase) phrase.Phrase {
	var said []phrase.Phrase
	var others []string
	end := func() {
		said, others = append(said, phrase.Quote(strings.Join(others, ": "))), nil
	}
	for part := range strings.SplitSeq(err, ": ") {
		known := read(part)
		if phrase.IsVerbatim(known) {
			others = append(others, part)
			continue
		}
		end()
		said = append(said, known)
	}
	end()
	return phrase.Join(": ", said...)
}

// mistake is a part of an error; verbatim where it is not known.
func mistake(part string) phrase.Phrase {
	if args, fits := phrase.Arguments("updating is not allowed, since %s", part); fits {
		return phrase.New("updating is not allowed, since %s", Permission(args[0]))
	}
	if remedy := PermissionRemedy(part); !phrase.IsVerbatim(remedy) {
		return remedy
	}
	return phrase.Read(part,
		"this Dogwatch does not read a configuration that could be reloaded",
		"wrong user or password",
		"unknown or expired token",
		"only a snooze has an end",
		"too many wrong logins",
		"try again in %s",
		"this link does not stand for that",
		"choose one of the buttons",
		"there is no image to change to",
		"nothing newer is known",
		"its base image %s is newer (%s)",
		"rebuild it",
		"no update of it is known that could be rolled back",
		"it has changed since it was planned",
		"look at the plan again",
		"the container is gone",
		"no plan has this digest, or it is too long ago",
		"the operation has ended",
		"operation %s of %s has not ended",
		"wait for it, or cancel it",
		"it is not configured",
		"the watcher cannot update",
		"its type only lists containers",
		"no registry is configured for %s",
		"the image that runs was not pulled from a registry, so there is nothing to compare with",
		"%s is not in its registry any more, so its configuration is not known",
		"the registry of %s cannot read the configurations of images",
		"plan the %s of %s",
		"resolve %s",
		"read the configuration of %s",
		"an operation is under way",
		"the update is blocked",
		"dogwatch is stopping",
		"not allowed",
		"is required",
		"say what the token is for",
		"want at most 100 characters on one line",
		"want read or write",
		"want a time to come",
		"another agent is called so",
		"a watcher that is no agent is called %s",
		"%s is no name of an agent",
		"want a-z, 0-9 and - between them, up to 63 of them",
		"the agent there is Dogwatch %s, which only watches",
		"update it",
		"there is no update of %s",
		"%s is none of the newer versions of %s",
		"say which version",
		"only a snooze can be of all",
		"say until when; without a date, a snooze is of one version",
		"%s is in the past",
		"want five years at most",
		"skip the version instead",
		"the update is of %s, not of %s",
		"there is nothing to approve",
		"nothing can be decided here",
		"deleting containers is switched off by server.feature.delete",
		"no trigger of type webpush is configured, so that no device can be notified",
		"nothing can be installed here",
		"only a failed delivery can be retried, and this one has not failed",
	)
}
