package words

import (
	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Planned is a warning of a plan, or what keeps it from being carried out. Plugins write that in English, and it is
// recorded with the operation: what is none of their usual texts stays as it is.
func Planned(text string) phrase.Phrase {
	said := phrase.Read(text,
		"which image %s is cannot be looked up now: %s; it is free again at %s",
		"the command of %s does not run: set watcher.%s.hooks to true",
		"%s lets only users update it: update it by hand",
		"%s is a major update. Back up its volumes first: a rollback brings back the old container, but not the data as it was.",
		"the commands of the labels do not run, since the owner of %s allows none: run dogwatch agent --allow-hooks there",
		"the owner of %s allows updates of these stacks only: %s; %s is of %s: run dogwatch agent with other --stacks there",
		"the owner of %s allows no updates: %s",
		"the compose file of %s is not changed, so the next docker compose up returns to the old image: set the watcher's option compose, or write %s there",
		"the compose file of %s is not changed, so the next docker compose up returns to the old image: have it changed too, or write %s there",
		"%s belongs to no compose file, so this trigger leaves it alone: name its file with the label dogwatch.compose.file, or use a docker trigger",
		"%s was not started by compose, so no compose file is changed",
		"%s was not started by compose, so compose cannot recreate it: use compose=edit",
		"compose recreates the other containers of the service too: %s",
		"other containers of the service keep the old image until they are updated too: %s",
		"compose removes the old %s before the new one is known to work; if that fails, it is made anew from the old image",
		"%s has to be recreated with %s, which the unit %s does not do: restart both units by hand",
		"%s has to be recreated with %s, which the compose command does not do: use compose=edit",
		"%s has to be recreated with %s, and its image %s is another one by now: update %s first",
		"Dogwatch runs in %s or needs it, so compose would end in the middle: use compose=edit",
		"the watcher's option compose is off, so no compose file is changed: set it to request, edit or command",
		"the watcher's option compose is edit, so compose recreates no container: set it to command or request, or leave that to the engine's API",
		"the image %s is not on the engine, and its digest is not known, so it cannot be pulled: check for updates again",
		"%s is for %s, and %s runs one for %s: choose an image for %s",
		"the old image of %s is gone, so its settings and labels cannot be told from yours, and would be kept as yours: recreate it with compose",
		"%s has written %s MiB into itself (up to 1 MiB is ignored), which would be lost (%s): move the data to a volume",
		"%s has written %s MiB into itself (up to 1 MiB is ignored), which would be lost: move the data to a volume",
		"%s is a task of Swarm, which would replace it again: update its service with a watcher of type swarm",
		"%s belongs to Kubernetes, which would replace it again: change its workload",
		"the engine removes %s as soon as it stops (--rm), so it could not be brought back: recreate it without --rm",
		"%s was created with the network %s and left it; a new one would be connected to it: connect it, or recreate it",
		"the network %s of %s does not exist any more: create it, or recreate the container",
		"the new image has labels that you gave %s, with the same values, and from then on they count as the image's: %s: set another value, or say it in the configuration",
		"labels of %s go with its old image: %s: if you set them too, recreate the container afterwards, or say it in the configuration",
		"%s keeps restarting, so a failed update returns to one that does not work either, and the hook is not run in it",
		"%s keeps restarting, so a failed update returns to one that does not work either",
		"%s keeps restarting, so its new one need not stay up",
		"%s is unhealthy, so the new one only has to stay up",
		"%s is unhealthy, so its new one only has to stay up",
		"Dogwatch is in no network of %s, which does not publish port %s, so the probe may not reach it: connect Dogwatch to one of them, or use a command as the probe",
		"%s has no health check, so it counts as working when it stays up",
		"%s runs as another user: %s instead of %s; files that it wrote before may not be its own",
		"%s has a new volume %s: what is written there is lost with the container unless something is mounted",
		"%s no longer has the volume %s: what is there may be looked for elsewhere now",
		"%s no longer exposes %s",
		"%s starts with another entrypoint: %s instead of %s",
		"%s starts with another command: %s instead of %s",
		"%s works in another folder: %s instead of %s",
		"%s has no health check any more",
		"%s is for another platform: %s instead of %s",
		"%s no longer sets %s",
		"%s is much larger: %s MB instead of %s MB",
		"this watcher only reads: set its option update to true to let it update services",
		"%s runs no containers",
		"%s is a job: update it where it is started from",
		"an update of %s is under way in the swarm: wait for its end",
		"%s is a service of a swarm, whose stack file is not edited: change the tag there, and deploy it",
		"the probe of %s is not used: a swarm waits for the HEALTHCHECK of the image or of the service",
		"the hooks of %s are not run: they belong to one container, and a service has many",
	)
	if args, fits := phrase.Arguments("%s is a major update. %s", text); fits && phrase.IsVerbatim(said) {
		return phrase.New("%s is a major update. %s", args[0], preset.Said(args[1]))
	}
	return said
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
	return phrase.Read(remedy,
		"set %s to true, or configure a docker or dockercompose trigger",
		"set %s to true",
	)
}
