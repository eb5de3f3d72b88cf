package words

import (
	"strings"

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
		"this watcher only reads: set its option update to true to let it update workloads",
		"%s is a pod that no workload makes: update it where it is started from",
		"%s belongs to the HelmRelease %s of Flux: change the image in its values",
		"%s belongs to the Kustomization %s of Flux: change the image in its source",
		"%s belongs to the application %s of Argo CD: change the image in its source",
		"%s belongs to the release %s of Helm: change the image in its values",
		"%s belongs to the %s %s, which would replace it again: change the image there",
		"the image of %s is applied by %s (server-side apply): change it there",
		"%s is paused, so nothing would be rolled out: resume it with kubectl rollout resume",
		"%s is a workload of Kubernetes, which no compose file has: change its manifest",
		"the manifest of %s is not changed: write the new image there too, or applying it returns to the old one",
		"the manifest of %s is not changed: write the new image into %s, or applying it returns to the old one",
		"the image of %s was set by %s, from which the field manager dogwatch takes it over",
		"%s has the new image from its next job on, so whether that works is not known",
		"the pods of %s are replaced when somebody deletes them (OnDelete), so whether the new image works is not known",
		"%s of %s pods of %s are ready, so a failed update returns to what does not work either",
		"the probe of %s is not used: Kubernetes waits for the readiness probes of its pods",
		"the hooks of %s are not run: they belong to one container, and a workload has many pods",
		"this watcher only reads: set its option update to true to let it update jobs",
		"%s runs in several regions, each of which has its own version: change its job file, and run that",
		"%s is stopped, so nothing would run the new image: start it with nomad job start",
		"%s has canaries that somebody has to promote: set auto_promote in its update block, or run its job file",
		"%s is a job of Nomad, which no compose file has: change its job file",
		"the image %s of %s has a variable, which Nomad replaces on the node: change it where the variable is set",
		"the job file of %s is not changed: write the new image there too, or running it returns to the old one",
		"%s has no allocations (count = 0), so whether the new image works is not known",
		"%s is a batch job, which runs again with the new image at once",
		"%s does not run, so a failed update returns to what does not work either",
		"the probe of %s is not used: Nomad waits for the checks of its services",
		"the hooks of %s are not run: they belong to one container, and a job has many allocations",
		"registering %s changes more than its image: %s",
		"Nomad finds no node for all allocations of %s now: %s",
	)
	if !phrase.IsVerbatim(said) {
		return said
	}
	if args, fits := phrase.Arguments("%s is a major update. %s", text); fits {
		return phrase.New("%s is a major update. %s", args[0], preset.Said(args[1]))
	}
	return blocked(text)
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

// blocked reads what keeps watchers of engines from an update: their compose files, their quadlets, Podman, and what
// agents allow. The errors of files begin with the path, and mostly with a line: "/srv/compose.yaml:12: …".
func blocked(text string) phrase.Phrase {
	where, sentence, isFile := strings.Cut(text, ": ")
	if isFile && strings.HasPrefix(where, "/") {
		return phrase.Join(": ", phrase.Verbatim(where), blocked(sentence))
	}
	return phrase.Read(text,
		"the container %s has %s mounted and can write there, so this file may be its own: mount that read-only into %s, move the compose file elsewhere, or name %s in the watcher's option composetrusted if it manages your compose files",
		"the compose file is on %s, where Dogwatch has the engine only: set the watcher's option compose to off, and change the file there, or run a Dogwatch there",
		"this is not a regular file",
		"the project was started from %s, which is not a file: write the new image there",
		"the container names no compose file: give it the label %s",
		"there is no such file where Dogwatch runs: mount the directory %s of the host at %s, writable",
		"Dogwatch may not read the file: give its user access to %s",
		"the file cannot be read: %s",
		"the file is UTF-16: save it as UTF-8",
		"this is not valid YAML: %s",
		"the image of %s is taken away with !reset: remove that line",
		"what %s extends cannot be followed: give the service an image of its own",
		"%s extends the service %s, which is not there",
		"the aliases of this document lead to too many places",
		"the service %s may be in a file that is included: name that file by the label %s",
		"there is no service %s: mount the files that the container was started from",
		"the image of %s is built here: build it anew",
		"the service %s names no image",
		"no service has the image %s",
		"the services %s have the image %s: start the container with Compose, so that it says which it is",
		"the file gives %s the image %s while the container runs %s: apply the file first, or correct it",
		"the image of %s is written in a way that cannot be replaced in place: write it on one line, such as image: %s",
		"the variable %s is in this file, which is not there where Dogwatch runs: mount its directory",
		"the variable %s has no value in %s: write it there",
		"the value of %s is interpolated or escaped: write it out",
		"%s cannot be made from %s by changing one of its parts: change them by hand",
		"the image is pinned by a digest, and the digest of %s is not known",
		"the file has the image %s while the container runs %s: apply the file first, or correct it",
		"the files that are included may use the variable %s too: write the image out",
		"the file was changed meanwhile: try again",
		"the image of %s is that of %s too: give it one of its own",
		"the image of %s is used as %s too: give it one of its own",
		"the file would not mean the same with %s: change it by hand",
		"the file was changed since the plan was made: plan again",
		"the path leads to %s, and led to %s when the plan was made: plan again",
		"Dogwatch may not write the file: mount %s writable, for its user",
		"the file cannot be written: %s",
		"%s comes from the systemd unit %s: name the folder of its quadlet in the watcher's option quadlets, and mount that folder and the bus of systemd into Dogwatch's container, each at the same path; or use podman auto-update",
		"%s is %s, and its unit %s would start it: start it first",
		"systemd cannot be asked for the quadlet of %s: %s: mount its bus into Dogwatch's container, and name it in the watcher's option bus",
		"the systemd unit %s of %s was not made from a quadlet, as those of podman generate systemd: turn it into a quadlet, or change the image in the unit",
		"the quadlet %s of %s is in none of the folders of the watcher's option quadlets: add its folder, or move it",
		"this is no .container file, so it does not name the image of %s alone: change the image there, and restart its unit",
		"several containers come from this template: change the image there, and restart each of them",
		"this quadlet makes the container %s, and %s says that it comes from it: restart the unit of the quadlet",
		"the section [Container] names no image",
		"the image comes from the quadlet %s: change it there, or write the name of the image here",
		"the image is written in a way that cannot be replaced: write it on one line, such as Image=%s",
		"this drop-in has the image of %s: change it there, or move it into the quadlet",
		"the new %s would have other settings than the old one: %s: create it anew with podman run, or make it a quadlet",
		"%s was created by Podman's API, so what Podman does not tell of it would be lost, such as sysctls and static addresses: create it anew with podman run",
		"whether compose put files into %s, which would be lost, is not known: %s",
		"the owner of %s has no such command in a label of the container: set dogwatch.%s there",
		"operation %s of %s has not ended on the host yet: wait for it",
		"%s operations are under way on the host: wait for one",
		"the update of %s was interrupted before its container was changed",
		"the agent has no record of it any more, so what became of %s is not known: look at it",
	)
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
