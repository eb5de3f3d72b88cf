package words

import "github.com/dogwatch/dogwatch/core/model/phrase"

// Remedy is what to do about an error of a component. That of its plugin stays as it is.
func Remedy(text string) phrase.Phrase {
	return phrase.Read(text,
		"The other side asks for a pause. Dogwatch waits and tries again by itself; with a login most registries allow more.",
		"Check the login, password or token below: the other side refuses it. Secrets are read when Dogwatch starts, so restart it after a change.",
		"Its plugin does not run: the page Plugins says why and can restart it.",
		"See that dogwatch agent runs on its host. Examine, on the page Agents, says what keeps it from connecting.",
		"Correct what is named above. After a change of an environment variable, recreate the container (docker compose up -d); after a change of the file, dogwatch reload is enough.",
		"Check the configuration below, then press Test.",
		"Check host and port, and whether a proxy answers instead.",
		"The other side does not answer. Check the address and port, and that the container of Dogwatch reaches it.",
	)
}

// NoNotes says why there are no release notes, or why they may be out of date.
func NoNotes(reason string) phrase.Phrase {
	return phrase.Read(reason,
		"there is no update",
		"not known: no label of the image names a repository of GitHub, GitLab, Gitea or Forgejo, nor does a link template",
		"the releases of %s cannot be read: %s; these are of %s",
		"the releases of %s cannot be read: %s",
		"the repository has tags at most, and no releases",
		"not known: neither the tag nor a label says which version runs",
		"not known: neither the tag nor a label says which version is offered",
		"no release is between the version that runs and the one that is offered",
		"release notes are switched off by notes.enabled",
	)
}
