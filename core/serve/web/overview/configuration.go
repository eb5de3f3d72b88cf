package overview

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/containers"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// configurationOf is the sentence about what is wrong with the configuration. Components that failed by it have
// sentences of their own.
func configurationOf(problems []string, components []service.Component) []containers.Line {
	others := slices.DeleteFunc(slices.Clone(problems), func(problem string) bool {
		return slices.ContainsFunc(components, func(c service.Component) bool {
			at, _, _ := strings.Cut(problem, ":") // the key of a setting, or of the type whose plugin is down
			return c.State == component.Failed && (at == c.Key() || strings.HasPrefix(at, c.Key()+".") ||
				at == string(c.Kind)+"."+c.Type)
		})
	})
	if len(others) == 0 {
		return nil
	}
	text := phrase.New("%s in the configuration", phrase.Count(len(others), "problem"))
	if len(others) < len(problems) { // the page of the settings counts all of them
		text = phrase.New("%s in the configuration", phrase.Count(len(others), "more problem"))
	}
	if len(others) == 1 {
		text = phrase.Join(": ", text, words.BriefMistake(others[0]))
	}
	return []containers.Line{{
		Kind: "minor", Word: phrase.New("configuration"), Text: text, To: "/settings", Act: phrase.New("See what to do"),
	}}
}
