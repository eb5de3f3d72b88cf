package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

func newPlan(g *global) *cobra.Command {
	var rollback bool
	f := updateFlags{plan: true, kind: operation.Update}
	cmd := &cobra.Command{
		Use:   "plan CONTAINER",
		Short: "Say what the update of a container would do",
		Long: `Asks the Dogwatch that is serving what an update would do, step by step, and changes
nothing: the exact image, its size, what is carried over, which defaults and files change,
which other containers are concerned, and what keeps it from being carried out.

Exit code 0: it can be carried out. 1: it could not be planned. 3: it is blocked or
refused, or there is no update.`,
		Example: `  # before an update
  dogwatch plan nginx

  # the minor version instead of the major one
  dogwatch plan postgres --version 16.6

  # before a rollback, for a script
  dogwatch plan nginx --rollback --json`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.containerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rollback {
				if f.version != "" {
					return usage(errors.New("--version is of an update, and --rollback of none"))
				}
				f.kind = operation.Rollback
			}
			if err := f.check(args); err != nil {
				return err
			}
			return g.update(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plan as the API does, in a list")
	f.versionFlag(cmd)
	cmd.Flags().BoolVar(&rollback, "rollback", false, "plan the return to the image before the last update")
	f.composeFlag(cmd)
	return cmd
}
