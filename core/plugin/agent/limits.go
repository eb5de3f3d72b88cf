package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The codes of what an agent adds to plans.
const (
	BlockReadOnly = "agent.readonly"
	BlockStack    = "agent.stacks"
	// BlockBusy: another operation of the container has not ended on the host, of which the controller knows nothing.
	BlockBusy = "agent.busy"
	// WarnHooks: commands of labels do not run.
	WarnHooks = "hooks.off"
	// ReasonUnknown: the agent has no record of an operation that was begun.
	ReasonUnknown = "agent.unknown"
)

// Limits are what the owner of an agent's host lets its controller do. The agent itself keeps to them.
type Limits struct {
	// ReadOnly says why nothing may be updated, and what to do about it there; "" when it may.
	ReadOnly string
	// Stacks are those whose containers may be updated; none for all containers.
	Stacks []string
	// Hooks is whether the commands of labels may run.
	Hooks bool
}

// rules returns what of the rules of an update is allowed, and what to say about the rest.
func (l Limits) rules(name string, asked watcher.UpdateRules) (watcher.UpdateRules, []watcher.Reason) {
	if l.Hooks || len(asked.Hooks.Pre)+len(asked.Hooks.Post) == 0 {
		return asked, nil
	}
	asked.Hooks = watcher.Hooks{}
	return asked, []watcher.Reason{{Code: WarnHooks, Text: fmt.Sprintf("the commands of the labels do not run, since the "+
		"owner of %s allows none: run dogwatch agent --allow-hooks there", name)}}
}

// blocks returns why a plan is not allowed: each container that it changes counts.
func (l Limits) blocks(name string, plan watcher.Plan, all []watcher.Container) (blocks []watcher.Reason) {
	if l.ReadOnly != "" {
		return []watcher.Reason{{Code: BlockReadOnly, Text: fmt.Sprintf("the owner of %s allows no updates: %s", name, l.ReadOnly)}}
	}
	if len(l.Stacks) == 0 {
		return nil
	}
	stacks := map[string]string{}
	for _, c := range all {
		stacks[c.ID] = label.StackOf(sdk.Container{Labels: c.Labels, ImageLabels: c.ImageLabels}).Name
	}
	concerned := append([]watcher.Dependent{{ContainerID: plan.ContainerID, Name: plan.Name}}, plan.Dependents...)
	for _, c := range concerned {
		stack := stacks[c.ContainerID]
		if slices.Contains(l.Stacks, stack) && stack != "" {
			continue
		}
		of := "stack " + stack
		if stack == "" {
			of = "no stack"
		}
		blocks = append(blocks, watcher.Reason{Code: BlockStack, Text: fmt.Sprintf(
			"the owner of %s allows updates of these stacks only: %s; %s is of %s: run dogwatch agent with other --stacks there",
			name, strings.Join(l.Stacks, ", "), c.Name, of)})
	}
	return blocks
}
