package main

import (
	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/update/operation"
)

func newRollback(g *global) *cobra.Command {
	f := updateFlags{kind: operation.Rollback}
	cmd := &cobra.Command{
		Use:   "rollback CONTAINER",
		Short: "Return a container to the image before its last update",
		Long: `Has the Dogwatch that is serving return a container to the image that it ran before
its last update, in the same way as an update: with a plan, step by step, and with
the present container back if it fails. That update is not made again by itself.

Exit code 0: rolled back. 1: failed. 2: wrong command line. 3: blocked or refused, or
there is nothing to return to.`,
		Example: `  # after a look at the plan
  dogwatch rollback nginx

  # in a script
  dogwatch rollback nginx --yes --json`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.containerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			return g.update(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.plan, "plan", false, "print the plan and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask; needed where there is no terminal")
	cmd.Flags().StringSliceVar(&f.acknowledge, "acknowledge", nil, "accept the block with this `code`; may be repeated")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plan or operation as the API does")
	f.composeFlag(cmd)
	return cmd
}
