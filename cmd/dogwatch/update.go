package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/stackorder"
	"github.com/dogwatch/dogwatch/sdk"
)

func newUpdate(g *global) *cobra.Command {
	f := updateFlags{kind: operation.Update}
	cmd := &cobra.Command{
		Use:   "update CONTAINER...",
		Short: "Replace containers by ones that run the newer image",
		Long: `Has the Dogwatch that is serving replace containers, at most two at a time: it shows
all plans, asks once for a yes, and prints each step; with --yes only warnings and steps.
If one fails, or the new container does not become healthy, the old one is back. An
operation goes on when this command is interrupted. The watcher must be allowed to update:
watcher.TYPE.NAME.update.

Where a major update waits for an approval, as that of a database does, the newest smaller
version is taken unless --major or --version asks for it. Any other major update is asked
about once more; with --yes it needs --major, and --all leaves it out without. --version
chooses among the versions that a plan lists.

--all takes what others depend on first; if that fails, what depends on it is not begun.
It leaves out what did not work before, or was rolled back, and what depends on that,
until there is something newer; --retry tries again.

Exit code 0: all updated, or nothing to do with --all. 1: something was rolled back, or
failed. 2: wrong command line. 3: something is blocked or refused, or has no update.`,
		Example: `  # one container, after a look at the plan
  dogwatch update nginx

  # all patches, from cron
  dogwatch update --all --kind patch --yes

  # the minor version instead of the major one that is offered
  dogwatch update postgres --version 16.6

  # accept that what was written into the container is lost
  dogwatch update nginx --acknowledge data.writable-layer

  # write the new tag into the compose file too
  dogwatch update nginx --compose`,
		Args: func(_ *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return g.update(cmd.Context(), f, args) },
	}
	cmd.ValidArgsFunction = others(g.containerNames)
	cmd.Flags().BoolVar(&f.plan, "plan", false, "print the plans and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask; needed where there is no terminal")
	cmd.Flags().BoolVar(&f.all, "all", false, "update every container that has an update")
	cmd.Flags().StringVar(&f.step, "kind", "",
		"with --all: only updates of this `kind`: patch, minor, major or rebuilt")
	cmd.Flags().StringSliceVar(&f.acknowledge, "acknowledge", nil, "accept the block with this `code`; may be repeated")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "pull the image and go no further")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plans or operations as the API does")
	cmd.Flags().BoolVar(&f.major, "major", false, "carry out major updates without asking once more")
	cmd.Flags().BoolVar(&f.retry, "retry", false, "with --all: try again what did not work before, or was rolled back")
	f.versionFlag(cmd)
	f.composeFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(updateSteps, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// update plans, asks and carries out, and chooses the exit code.
func (g *global) update(ctx context.Context, f updateFlags, names []string) (err error) {
	u, err := g.openUpdating(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.close()) }()
	selected, err := u.selected(f, names)
	if err != nil {
		return err
	}
	if f.all {
		selected = g.inTurn(f, selected)
	}
	r := &round{global: g, updating: u, flags: f}
	ready := r.planAll(ctx, selected)
	if f.plan {
		if f.json {
			err = printJSON(g.stdout, r.plans)
		}
		return errors.Join(err, exit(r.code()))
	}
	if len(r.results) == 0 && !f.json {
		fmt.Fprintln(g.stdout, "nothing to update")
	}
	if len(ready) > 0 {
		if err := g.confirm(ctx, f, ready); err != nil {
			return err
		}
		if ready = r.confirmMajor(ctx, ready); len(ready) > 0 {
			r.carryOut(ctx, ready)
		}
	}
	switch {
	case f.json:
		err = printJSON(g.stdout, r.ended())
	case len(r.results) > 1:
		err = r.writeResults(g.stdout)
	}
	if err != nil {
		return err
	}
	return exit(r.code())
}

// inTurn puts what --all selects into the order of its dependencies, and says what it leaves out.
func (g *global) inTurn(f updateFlags, selected []sdk.Container) []sdk.Container {
	selected = stackorder.InOrder(selected, func(c sdk.Container) sdk.Container { return c })
	if f.retry {
		return selected
	}
	kept, why := leaveOut(selected)
	out := g.stdout
	if f.json {
		out = g.stderr
	}
	for _, c := range selected {
		if reason := why[c.ID]; reason != "" {
			fmt.Fprintln(out, printable(fmt.Sprintf("%s/%s is left out: %s; --retry tries it again", c.Watcher,
				c.Name, reason)))
		}
	}
	return kept
}

// confirm asks the user on a terminal, unless that is not wanted.
func (g *global) confirm(ctx context.Context, f updateFlags, ready []planned) error {
	what := phrase.Count(len(ready), "container").String()
	if len(ready) == 1 {
		what = printable(ready[0].container.Name)
	}
	return g.agree(ctx, f.yes, fmt.Sprintf("Carry out the %s of %s?", f.kind, what),
		", or --plan to see what would be done")
}
