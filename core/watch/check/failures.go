package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/watch/hostlimit"
	"github.com/dogwatch/dogwatch/sdk"
)

// logOutages logs why containers could not be checked: once for each cause.
func (p *pass) logOutages() {
	for _, f := range tally.Failures(p.outages, func(f failure) (cause, err string) { return f.cause, f.err }) {
		if len(f.Of) == 1 {
			p.log.Warn("container could not be checked", "container", f.Of[0].name, "error", f.Text)
			continue
		}
		var names []string
		for _, one := range f.Of {
			names = append(names, one.name)
		}
		slices.Sort(names)
		p.log.Warn("containers could not be checked", "count", len(names), "cause", f.Text, "first", f.Of[0].err,
			"containers", strings.Join(names[:min(len(names), namesLogged)], ", "))
	}
}

// logOutcome logs what the owner of a container should know: why it could not be
// checked or which label is wrong, when that has changed, and rules without effect, once.
func (p *pass) logOutcome(s *target, after sdk.Container) {
	name := event.Subject(after)
	var pause *hostlimit.PostponedError
	switch postponed := errors.As(s.Answer.Err, &pause); {
	case postponed && pause.Refused:
		p.log.Warn("check is postponed", "container", name, "until", after.Check.PostponedUntil, "reason", pause)
	case postponed:
		p.log.Debug("check is postponed", "container", name, "until", after.Check.PostponedUntil, "reason", pause)
	case after.Check.State == sdk.CheckFailed:
		if before := s.Container; before.Error != nil &&
			(*before.Error == *after.Error || before.Error.Cause == after.Error.Cause && after.Error.Cause != "") {
			p.log.Debug("container still cannot be checked", "container", name, "error", after.Error.Message)
			return
		}
		p.outages = append(p.outages, failure{name: name, cause: after.Error.Cause, err: after.Error.Message})
	}
	problem := decision.Problem(after)
	if after.Check.Succeeded() && problem != "" && problem != decision.Problem(s.Container) {
		p.log.Warn("a label of a container is wrong", "container", name, "error", problem)
	}
	for _, warning := range s.Answer.Selection.Warnings {
		p.warnOnce(after.ID+warning.String(), name+": "+warning.String())
	}
}
