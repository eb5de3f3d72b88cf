package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

var (
	updateSteps  = []string{sdk.DiffPatch, sdk.DiffMinor, sdk.DiffMajor, tally.Word(sdk.KindDigest)}
	composeRules = []string{"edit", "command"}
)

// updateFlags are the flags of plan, update and rollback.
type updateFlags struct {
	kind        operation.Kind
	plan        bool
	yes         bool
	all         bool
	major       bool
	retry       bool
	step        string
	version     string
	acknowledge []string
	compose     string
	dryRun      bool
	json        bool
}

func (f *updateFlags) versionFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.version, "version", "",
		"the `version` to update to, one that the plan lists, if not the one that it leads to")
}

func (f *updateFlags) composeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.compose, "compose", "",
		"write the image into the compose file too: edit, or with `how`=command have the compose command recreate the container")
	cmd.Flags().Lookup("compose").NoOptDefVal = composeRules[0]
	_ = cmd.RegisterFlagCompletionFunc("compose", cobra.FixedCompletions(composeRules, cobra.ShellCompDirectiveNoFileComp))
}

// check refuses flags and arguments that do not go together.
func (f *updateFlags) check(args []string) error {
	switch {
	case f.all == (len(args) > 0):
		return usage(errors.New("name containers, or use --all (see: dogwatch update --help)"))
	case f.version != "" && len(args) != 1:
		return usage(errors.New("--version is for one container"))
	case f.retry && !f.all:
		return usage(errors.New("--retry is for --all: a container that is named is tried again"))
	case f.step != "" && !f.all:
		return usage(errors.New("--kind is for --all"))
	case f.step != "" && f.step != sdk.KindDigest && !slices.Contains(updateSteps, f.step):
		return usage(fmt.Errorf("unknown kind %q: use %s", f.step, enumerate(updateSteps)))
	case f.compose != "" && !slices.Contains(composeRules, f.compose):
		return usage(fmt.Errorf("unknown way to change compose files %q: use %s", f.compose, enumerate(composeRules)))
	}
	return nil
}

// change is the body of a request that follows from the flags. Without a version, it leads to a smaller one than is
// offered where that waits for an approval; a flag that asks for what is offered names it.
func (f *updateFlags) change(c *sdk.Container) change {
	wish := change{Acknowledge: f.acknowledge, DryRun: f.dryRun, Compose: f.compose, Version: f.version}
	offered := f.major || f.step != "" && isStep(c, f.step)
	if wish.Version == "" && offered && c.UpdateKind.Kind == sdk.KindTag {
		wish.Version = c.UpdateKind.RemoteValue
	}
	return wish
}

// isStep reports whether an update is of a step: major, minor, patch, or rebuilt (as the API says, digest), which is
// every new image of the same tag, whatever its version.
func isStep(c *sdk.Container, step string) bool {
	return tally.Kind(c) == step || (step == tally.Word(sdk.KindDigest) || step == sdk.KindDigest) && tally.Rebuilt(c)
}

// mayStep reports whether an update by hand may be of a smaller step than what is offered, which waits for an approval.
func mayStep(c *sdk.Container, step string) bool {
	if !tally.Approval(c) || c.Result == nil || c.Result.Levels == nil {
		return false
	}
	l := c.Result.Levels
	return step == sdk.DiffMinor && l.Minor != nil || step == sdk.DiffPatch && l.Patch != nil
}

// change is the body of requests to plan, update and roll back.
type change struct {
	Kind        operation.Kind `json:"kind,omitempty"`
	Acknowledge []string       `json:"acknowledge,omitempty"`
	DryRun      bool           `json:"dryRun,omitempty"`
	Digest      string         `json:"digest,omitempty"`
	State       string         `json:"state,omitempty"`
	Compose     string         `json:"compose,omitempty"`
	Version     string         `json:"version,omitempty"`
}
