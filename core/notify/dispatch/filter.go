package dispatch

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// accepts reports whether a trigger is notified of the update of a container: by
// its own threshold, whether it runs for rebuilds, and by the include and exclude labels of the container.
func accepts(t Trigger, c sdk.Container) bool {
	rebuild := policy.IsRebuild(c.UpdateKind.Kind, c.UpdateKind.SemverDiff)
	if !passes(t.Threshold, c.UpdateKind) || rebuild && t.OnDigest != nil && !t.OnDigest(c) {
		return false
	}
	included, listed := find(c.TriggerInclude, t.ID)
	switch {
	case strings.TrimSpace(c.TriggerInclude) == "" && !t.IncludeByDefault:
		return false
	case strings.TrimSpace(c.TriggerInclude) != "" && (!listed || !passes(included, c.UpdateKind)):
		return false
	}
	excluded, listed := find(c.TriggerExclude, t.ID)
	return !listed || !passes(excluded, c.UpdateKind)
}

// Associated reports whether a trigger can run for some update of a container,
// and the threshold that the container's include label gives it ("" when the label gives none).
func Associated(id string, includeByDefault bool, c sdk.Container) (threshold string, ok bool) {
	threshold, listed := find(c.TriggerInclude, id)
	if strings.TrimSpace(c.TriggerInclude) == "" {
		listed = includeByDefault
	}
	excluded, out := find(c.TriggerExclude, id)
	return threshold, listed && !(out && excluded == thresholdAll)
}

// Takes reports whether a trigger runs by itself, and each time, for the update that a container is offered now.
func Takes(t Trigger, c sdk.Container) bool {
	_, is := offeredTo(t, c)
	return is && t.Auto && t.Summary == nil && c.UpdateAvailable
}

// find looks a trigger up in a label such as "smtp.main:minor, docker.local"
// and returns its threshold there. It reads as WUD does: ids are compared
// without regard to case, thresholds with it; the first item that names the
// trigger wins; white space counts only at the two ends of the label.
func find(label, id string) (threshold string, listed bool) {
	items := strings.Split(label, ",")
	for i, item := range items {
		if i > 0 {
			item = strings.TrimLeftFunc(item, unicode.IsSpace)
		}
		if i < len(items)-1 {
			item = strings.TrimRightFunc(item, unicode.IsSpace)
		}
		name, threshold, cut := strings.Cut(item, ":")
		if cut {
			name = strings.TrimRightFunc(name, unicode.IsSpace)
			threshold = strings.TrimLeftFunc(threshold, unicode.IsSpace)
		}
		if !strings.EqualFold(name, id) {
			continue
		}
		if !slices.Contains(policy.Thresholds(), threshold) {
			threshold = thresholdAll
		}
		return threshold, true
	}
	return "", false
}

const thresholdAll = "all"

func passes(threshold string, u sdk.UpdateKind) bool {
	return policy.Passes(threshold, u.Kind, u.SemverDiff)
}

// offeredTo returns the container with the update of which a trigger is notified, if
// any: the one that is offered or, where that is too large for the trigger's threshold or for the
// labels of the container, the newest version of a smaller step. A held update is for no trigger.
func offeredTo(t Trigger, c sdk.Container) (sdk.Container, bool) {
	if !decided(t, c) {
		return c, false
	}
	if accepts(t, c) {
		return c, true
	}
	for _, level := range otherLevels(c) {
		if accepts(t, level) {
			return level, true
		}
	}
	return c, false
}

// decided reports whether a trigger may run for the update of a container now. One that has
// containers updated waits for the approval of a user where the rules ask for it, and
// leaves alone what is carried out automatically.
func decided(t Trigger, c sdk.Container) bool {
	d := c.Decision
	switch {
	case c.Base != nil && t.Operates: // it is to be built anew
		return false
	case d == nil:
		return true
	case d.State == sdk.StateHeld:
		return false
	case !t.Operates:
		return true
	}
	return d.State == sdk.StateOffered &&
		!slices.ContainsFunc(d.Reasons, func(r sdk.Reason) bool { return r.Code == policy.ReasonApproval })
}

// otherLevels returns a container once for each version of another step than the one that
// is offered, which it then has as its update; the largest step first.
func otherLevels(c sdk.Container) []sdk.Container {
	if c.UpdateKind.Kind != sdk.KindTag {
		return nil
	}
	var others []sdk.Container
	for _, level := range slices.Backward(tally.Levels(&c)) {
		if level.Tag == c.Result.Tag {
			continue
		}
		other := c
		other.Result = &sdk.Result{Tag: level.Tag, Created: level.Created, Link: level.Link, Levels: c.Result.Levels}
		other.UpdateKind.RemoteValue, other.UpdateKind.SemverDiff = level.Tag, level.Step
		others = append(others, other)
	}
	return others
}

// filter leaves out of deliveries what is not to be sent any more.
type filter struct {
	opt       Options
	reminders *reminders
}

// current drops the containers whose update is another one since the delivery was
// planned, or held. A container stays itself when it is renamed or recreated.
func (f *filter) current(t Trigger, due delivery.Delivery, planned []sdk.Container) []sdk.Container {
	var still []sdk.Container
	for _, c := range planned {
		now, known := f.find(c)
		if !known {
			continue
		}
		if !due.Manual { // users run triggers whatever is decided, and whatever the thresholds
			if now, known = offeredTo(t, now); !known {
				continue
			}
		}
		if update.Equal(&now, &c) {
			still = append(still, now)
		}
	}
	return still
}

// find returns a planned container as it is now.
func (f *filter) find(planned sdk.Container) (now sdk.Container, known bool) {
	if now, known = f.opt.Containers.ByID(planned.ID); known {
		return now, true
	}
	return f.opt.Containers.ByName(planned.Watcher, planned.Name)
}

// gone says why nothing of what was planned is sent: "the update is held: snoozed until the next version".
func (f *filter) gone(planned []sdk.Container) string {
	for _, c := range planned {
		now, known := f.find(c)
		if d := now.Decision; known && update.Equal(&now, &c) && d != nil && d.State == sdk.StateHeld && len(d.Reasons) > 0 {
			return "the update is held: " + heldBy(d.Reasons[0])
		}
	}
	return "the update is no longer pending"
}

// heldBy says in short what holds an update.
func heldBy(r sdk.Reason) string {
	switch {
	case r.Code == policy.ReasonSkipped:
		return "skipped"
	case r.Code == policy.ReasonSnoozed && r.Until.IsZero():
		return "snoozed until the next version"
	case r.Code == policy.ReasonSnoozed:
		return "snoozed until " + r.Until.Local().Format("2 Jan 2006 15:04")
	}
	return r.Text
}

// unsendable returns the outcome of a delivery for which the trigger is not called now.
func (f *filter) unsendable(
	ctx context.Context, t Trigger, due delivery.Delivery, planned, containers []sdk.Container,
) (outcome delivery.Outcome, known bool) {
	switch {
	case len(containers) == 0:
		return delivery.Outcome{State: delivery.Skipped, Error: f.gone(planned)}, true
	case f.reminders.superseded(t, due):
		return delivery.Outcome{State: delivery.Skipped, Error: "a later message says the same"}, true
	case ctx.Err() != nil:
		return delivery.Outcome{State: delivery.Pending, Error: "dogwatch stopped before the call"}, true
	}
	return delivery.Outcome{}, false
}
