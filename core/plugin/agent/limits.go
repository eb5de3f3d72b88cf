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
	// BlockCommand: a command is in no label of the container.
	BlockCommand = "agent.command"
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
	// Logs is whether the last lines that containers wrote may be read.
	Logs bool
}

// rules returns what of the rules of an update is allowed, what to say about the rest, and what blocks it. Commands run
// only if the owner has them in labels of the container, as what the controller sends is not enough.
func (l Limits) rules(
	name string, asked watcher.UpdateRules, c watcher.Container,
) (rules watcher.UpdateRules, warnings, blocks []watcher.Reason) {
	if !l.Hooks && len(asked.Hooks.Pre)+len(asked.Hooks.Post) > 0 {
		asked.Hooks = watcher.Hooks{}
		warnings = []watcher.Reason{{Code: WarnHooks, Text: fmt.Sprintf("the commands of the labels do not run, since the "+
			"owner of %s allows none: run dogwatch agent --allow-hooks there", name)}}
	}
	// Labels of other tools are the owner's, too, whether or not the controller reads them.
	own := label.Read(label.Of(sdk.Container{Labels: c.Labels, ImageLabels: c.ImageLabels}), label.Options{Foreign: true})
	for _, command := range []struct {
		label string
		argv  []string
	}{{label.HookPre, asked.Hooks.Pre}, {label.HookPost, asked.Hooks.Post}, {label.ProbeCommand, asked.Health.Command}} {
		if len(command.argv) > 0 && !isCommandOf(own, command.label, command.argv) {
			blocks = append(blocks, watcher.Reason{Code: BlockCommand, Text: fmt.Sprintf("the owner of %s has no such command "+
				"in a label of the container: set dogwatch.%s there", name, command.label)})
		}
	}
	return asked, warnings, blocks
}

// isCommandOf reports whether a label has a command.
func isCommandOf(own label.Reading, name string, argv []string) bool {
	rule, given := own.Get(name)
	if !given || rule.FromImage {
		return false
	}
	said, err := label.Command(strings.TrimSpace(rule.Value))
	return err == nil && slices.Equal(said, argv)
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
