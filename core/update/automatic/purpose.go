package automatic

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// prefix begins the text of every purpose.
const prefix = "automatic"

// purpose is what an operation is begun for: an update and, if there is one, the approval
// of a user. Its text is the idempotency key of the operation, of which the store keeps one only:
// so no crash makes an update begin twice, and a new approval makes it begin anew.
type purpose struct {
	update   update.Key
	approved time.Time
	// attempt counts from 1; 0 is as 1.
	attempt int

	actor   string
	decided time.Time
}

// String returns "automatic local/web,tag,1.25.0,,1.26.0, 1767225600000" and, for
// all attempts but the first, their number.
func (p purpose) String() string {
	fields := []string{prefix, p.update.String(), "0"}
	if !p.approved.IsZero() {
		fields[2] = strconv.FormatInt(p.approved.UnixMilli(), 10)
	}
	if p.attempt > 1 {
		fields = append(fields, strconv.Itoa(p.attempt))
	}
	return strings.Join(fields, " ")
}

// purpose returns what an operation of a container would be begun for now.
func (r *Runner) purpose(c *sdk.Container) purpose {
	p := purpose{update: update.KeyOf(c)}
	if c.Decision == nil {
		return p
	}
	var approval *choice.Choice
	isApproved := slices.ContainsFunc(c.Decision.Reasons, func(reason sdk.Reason) bool {
		return reason.Code == policy.ReasonApproved
	})
	if isApproved && r.opt.Choices != nil {
		for _, chosen := range r.opt.Choices(event.Subject(*c)) {
			if chosen.Kind == choice.Approved && chosen.Update.SameTarget(p.update) &&
				(approval == nil || chosen.At.After(approval.At.Time)) {
				approval = &chosen
			}
		}
	}
	if approval != nil {
		p.approved = approval.At.Time
	}
	p.actor, p.decided = actorOf(c), decided(c, approval)
	return p
}

// isAutomatic reports whether an operation was begun here.
func isAutomatic(op operation.Operation) bool {
	return strings.HasPrefix(op.IdempotencyKey, prefix+" ")
}

// sameButAttempt reports whether two idempotency keys are of attempts of the same update.
func sameButAttempt(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return len(x) >= 3 && len(y) >= 3 && slices.Equal(x[:3], y[:3])
}

// startedFor returns the operations that were begun for a purpose.
func startedFor(all []operation.Operation, p purpose) []operation.Operation {
	var started []operation.Operation
	for _, op := range all {
		if sameButAttempt(op.IdempotencyKey, p.String()) {
			started = append(started, op)
		}
	}
	return started
}

// carriedOut reports whether an operation has led the container to the version since it was
// decided: the next check has not found that yet. A user may have begun it, or
// approved the update again meanwhile.
func carriedOut(all []operation.Operation, p purpose) bool {
	return slices.ContainsFunc(all, func(op operation.Operation) bool {
		if op.Kind != operation.Update || op.State != operation.Succeeded || op.Rules.DryRun || !op.Ended.After(p.decided) {
			return false
		}
		key, err := update.Parse(op.Update)
		return err == nil && key.SameTarget(p.update)
	})
}

// refusedFor reports whether a refusal is of a purpose, whichever attempt it was.
func refusedFor(key string, p purpose) bool { return sameButAttempt(key, p.String()) }
