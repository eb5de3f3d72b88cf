package automatic

import (
	"context"
	"fmt"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// member is a container of a stack, with its latest operations.
type member struct {
	container  *sdk.Container
	operations []operation.Operation
}

// membersOf returns the containers of a stack with their latest operations, the newest first.
func membersOf(ctx context.Context, operations Operations, stack []*sdk.Container) ([]member, error) {
	members := make([]member, len(stack))
	for i, c := range stack {
		filter := operation.Filter{Watcher: c.Watcher, Name: c.Name, Limit: memberOperations}
		all, err := operations.Operations(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("read the operations of %s: %w", event.Subject(*c), err)
		}
		members[i] = member{c, all}
	}
	return members, nil
}

// stopFor returns what keeps a container from being updated: the latest update of another
// one of its stack that was begun here and did not work out; zero for none.
func stopFor(c *sdk.Container, members []member) (stop policy.Stop) {
	for _, m := range members {
		// What only pulled an image says nothing of an update.
		last := slices.IndexFunc(m.operations, func(op operation.Operation) bool { return !op.Rules.DryRun })
		if m.container.ID == c.ID || last < 0 {
			continue
		}
		latest := m.operations[last]
		failed := latest.State.Ended() && latest.State != operation.Succeeded
		if isAutomatic(latest) && failed && !mayRetry(latest, m.operations) && latest.Ended.After(stop.At) {
			name := m.container.Name
			if m.container.Watcher != c.Watcher {
				name = event.Subject(*m.container)
			}
			stop = policy.Stop{Name: name, Cancelled: latest.State == operation.Cancelled, At: latest.Ended}
		}
	}
	return stop
}

// StoppedBy returns what stops the stack of a container, zero for nothing; see policy.Facts. It
// costs a read for each container of the stack.
func StoppedBy(
	ctx context.Context, operations Operations, all []*sdk.Container, c *sdk.Container,
) (policy.Stop, error) {
	own := stackOf(c)
	if own.name != "" {
		return policy.Stop{}, nil
	}
	var stack []*sdk.Container
	for _, other := range all {
		if stackOf(other) == own && other.ID != c.ID {
			stack = append(stack, other)
		}
	}
	members, err := membersOf(ctx, operations, stack)
	return stopFor(c, members), err
}

// isStopped reports whether a container is held since its stack is stopped.
func isStopped(c *sdk.Container) bool {
	d := c.Decision
	if !c.UpdateAvailable || d == nil || d.State != sdk.StateHeld {
		return false
	}
	return slices.ContainsFunc(d.Reasons, func(r sdk.Reason) bool { return r.Code == policy.ReasonStack })
}
