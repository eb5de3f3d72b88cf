package words

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// AgentDoctor names a part of the way to an agent, or says what was found of it, or what to do; see agent.Hop.
func AgentDoctor(text string) phrase.Phrase {
	if !strings.HasPrefix(text, "its owner allows ") {
		return phrase.Stored("agentdoctor", text)
	}
	var parts []phrase.Phrase
	for part := range strings.SplitSeq(text, "; ") {
		parts = append(parts, phrase.Stored("agentdoctor", part))
	}
	return phrase.Join("; ", parts...)
}
