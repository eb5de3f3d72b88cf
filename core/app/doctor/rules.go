package doctor

import (
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk"
)

// rules tells what is wrong with the rules about updates of single containers: labels that
// cannot be read, policies that do not exist, and windows that never open. What is wrong
// with a rule of many containers is reported once.
func (e *examination) rules(containers []sdk.Container) []Finding {
	if e.Rules == nil {
		return nil
	}
	var found []Finding
	for _, c := range containers {
		read := e.Rules(c)
		problems := read.Problems
		if never, ok := read.NeverOpens(e.Now()); ok {
			problems = append(slices.Clone(problems), never)
		}
		for _, p := range problems {
			f := Finding{Subject: "container " + c.Watcher + "/" + c.Name, Level: Fail, Detail: p.Text}
			if !strings.Contains(p.Source+p.Text, "label ") { // of the configuration
				f.Subject = p.Source
				known := slices.ContainsFunc(e.Config.Problems, func(known config.Problem) bool {
					return known.Key == p.Source && known.Message == strings.TrimPrefix(p.Text, p.Source+": ")
				})
				if known || slices.Contains(found, f) {
					continue
				}
			}
			found = append(found, f)
		}
		for _, p := range read.Ignored {
			found = append(found, Finding{Subject: "container " + c.Watcher + "/" + c.Name, Level: Warn, Detail: p.Text})
		}
	}
	return found
}
