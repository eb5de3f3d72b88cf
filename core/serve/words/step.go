package words

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// Taken is what a step of an operation does. Plugins write that in English, and it is recorded with the operation: what
// is none of their usual texts stays as it is.
func Taken(s watcher.Step) phrase.Phrase { return taken(s.Text) }

// Steps are what the steps of a plan do. Plugins know a container by its name, which gives way to what users call it.
func Steps(all []watcher.Step, c *sdk.Container) (said []phrase.Phrase) {
	for _, s := range all {
		said = append(said, renamed(s, c.Name, Name(c)))
	}
	return said
}

// renamed is what a step does to a container that is shown by another name.
func renamed(s watcher.Step, name, shown string) phrase.Phrase {
	for _, format := range stepTexts() {
		if texts, fits := phrase.Arguments(format, s.Text); fits {
			args := make([]any, len(texts))
			for i, text := range texts {
				args[i] = text
				if text == name {
					args[i] = shown
				}
			}
			return phrase.New(format, args...)
		}
	}
	return Taken(s)
}

func taken(text string) phrase.Phrase { return phrase.Read(text, stepTexts()...) }

// stepTexts are the usual texts of steps.
func stepTexts() []string {
	return []string{
		"pull %s",
		"write %s instead of %s into %s",
		"write %s into %s again",
		"run the hook in the old %s",
		"run the hook in the new %s",
		"rename the old container %s",
		"create the new %s",
		"recreate %s with %s",
		"connect the new %s to the network %s",
		"stop the old %s",
		"stop %s, which depends on %s",
		"start the new %s",
		"return to the old image of %s",
		"return to the old %s",
		"wait until %s is healthy, or stays up if it has no health check",
		"wait until %s responds at %s",
		"wait until %s accepts connections at %s",
		"wait until the probe in %s succeeds",
		"remove the old container %s, not its volumes",
		"keep the old %s stopped, and remove all but %s of them",
		"remove the old image if no container uses it",
		"pause the new %s, as the old one was",
		"restart %s, which depends on %s",
		"have the swarm update %s to %s",
		"have the swarm return %s to %s",
		"have Kubernetes update %s to %s",
		"have Kubernetes return %s to %s",
		"wait until all pods of %s run the new image and are ready",
		"have Nomad update %s to %s",
		"have Nomad return %s to %s",
		"wait until all allocations of %s run the new image and are healthy",
	}
}
