package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// AgentPart names a part of the way to an agent; see agent.Hop.
func AgentPart(name string) phrase.Phrase {
	return phrase.Read(name, "agent", "address", "name", "proxy", "connection", "certificate", "controller", "engine", "rights")
}

// AgentFound says what was found of such a part.
func AgentFound(text string) phrase.Phrase {
	said := phrase.Read(text, "%s has joined %s, with a token of %s", "from %s since %s, of Dogwatch %s",
		"valid until %s; it renews itself", "%s; it lists %s containers", "not tried: public.url is not set",
		"it has just come about", "WebSockets pass to %s", "what answers there is this Dogwatch")
	if !phrase.IsVerbatim(said) {
		return said
	}
	if !strings.HasPrefix(text, "its owner allows ") {
		return phrase.Quote(text)
	}
	var parts []phrase.Phrase
	for part := range strings.SplitSeq(text, "; ") {
		parts = append(parts, phrase.Read(part, "its owner allows updates of these stacks only: %s",
			"its owner allows no updates: %s", "its owner allows updates",
			"the commands of hook labels do not run", "the logs of containers may be read"))
	}
	return phrase.Join("; ", parts...)
}

// AgentRemedy says what to do about a part that does not work.
func AgentRemedy(text string) phrase.Phrase {
	return phrase.Read(text, "run dogwatch doctor on the host, with the configuration of its agent",
		"run dogwatch agent doctor on the host: it goes the way from there, and names the part that fails",
		"correct public.url, or the name in the DNS", "correct public.url, or the proxy before Dogwatch")
}
