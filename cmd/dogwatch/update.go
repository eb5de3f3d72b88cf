package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dogwatch/dogwatch/core/api"
	"github.com/dogwatch/dogwatch/core/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// updateFlags are the flags of plan, update and rollback.
type updateFlags struct {
	kind        operation.Kind
	plan        bool
	yes         bool
	all         bool
	step        string
	acknowledge []string
	dryRun      bool
	json        bool
}

// pollPause is the wait between two looks at an operation.
const pollPause = 250 * time.Millisecond

var updateSteps = []string{sdk.DiffPatch, sdk.DiffMinor, sdk.DiffMajor, sdk.KindDigest}

func newUpdate(g *global) *cobra.Command {
	f := updateFlags{kind: operation.Update}
	cmd := &cobra.Command{
		Use:   "update CONTAINER...",
		Short: "Replace containers by ones that run the newer image",
		Long: `Has the Dogwatch that is serving replace containers, one after the other: it shows
the plan, asks for a yes, and prints each step. If one fails, or the new container
does not become healthy, the old one is back. An operation goes on when this command
is interrupted. The watcher must be allowed to update: watcher.TYPE.NAME.update.

Exit code 0: updated. 1: rolled back, or failed. 2: wrong command line. 3: blocked.`,
		Example: `  # one container, after a look at the plan
  dogwatch update nginx

  # all patches, from cron
  dogwatch update --all --kind patch --yes

  # accept that what was written into the container is lost
  dogwatch update nginx --acknowledge data.writable-layer`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.all == (len(args) > 0):
				return usage(errors.New("name containers, or use --all (see: dogwatch update --help)"))
			case f.step != "" && !f.all:
				return usage(errors.New("--kind is for --all"))
			case f.step != "" && !slices.Contains(updateSteps, f.step):
				return usage(fmt.Errorf("unknown kind %q: use %s", f.step, enumerate(updateSteps)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return g.update(cmd.Context(), f, args) },
	}
	cmd.ValidArgsFunction = completeFlag(g.containerNames)
	cmd.Flags().BoolVar(&f.plan, "plan", false, "print the plans and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask; needed where there is no terminal")
	cmd.Flags().BoolVar(&f.all, "all", false, "update every container that has an update")
	cmd.Flags().StringVar(&f.step, "kind", "", "with --all: only updates of this `kind`: patch, minor, major or digest")
	cmd.Flags().StringSliceVar(&f.acknowledge, "acknowledge", nil, "accept the block with this `code`; may be repeated")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "pull the image and go no further")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the plans or operations as the API does")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(updateSteps, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// planned is a container with its plan.
type planned struct {
	container sdk.Container
	plan      api.Plan
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
	ready, plans, code := g.planAll(ctx, u, f, selected)
	if f.plan {
		if f.json {
			if err := printJSON(g.stdout, plans); err != nil {
				return err
			}
		}
		return exit(code)
	}
	ended := []api.Operation{}
	if len(ready) > 0 {
		if err := g.confirm(f, len(ready)); err != nil {
			return err
		}
	} else if len(selected) == 0 && !f.json {
		fmt.Fprintln(g.stdout, "nothing to update")
	}
	for _, p := range ready {
		op, err := g.carryOut(ctx, u, f, p)
		if op.ID != "" {
			ended = append(ended, op)
		}
		if err != nil {
			complain(g.stderr, fmt.Sprintf("%s: %v", p.container.Name, err))
			code = exitFailure
		} else if op.State != operation.Succeeded {
			code = exitFailure
		}
		if ctx.Err() != nil {
			break
		}
	}
	if f.json {
		if err := printJSON(g.stdout, ended); err != nil {
			return err
		}
	}
	return exit(code)
}

// planAll plans for each container. It returns those that can be carried out, all
// plans, and the exit code of what cannot.
func (g *global) planAll(ctx context.Context, u *updating, f updateFlags, selected []sdk.Container) (ready []planned, plans []api.Plan, code int) {
	plans = []api.Plan{}
	for _, c := range selected {
		var p api.Plan
		if err := u.post(ctx, containerPath(c, "plan"), change{Kind: f.kind, Acknowledge: f.acknowledge}, &p); err != nil {
			complain(g.stderr, fmt.Sprintf("%s: %v", c.Name, err))
			code = exitFailure
			continue
		}
		plans = append(plans, p)
		if !f.json {
			if err := writePlan(g.stdout, styleOf(g.stdout), c.Name, p); err != nil {
				return nil, plans, exitFailure
			}
		}
		if len(p.Blocks) == 0 {
			ready = append(ready, planned{c, p})
			continue
		}
		if f.json {
			complain(g.stderr, c.Name+" is blocked: "+strings.Join(reasonLines(p.Blocks), "; "))
		}
		if code == exitOK {
			code = exitBlocked
		}
	}
	return ready, plans, code
}

// confirm asks the user on a terminal, unless that is not wanted.
func (g *global) confirm(f updateFlags, n int) error {
	if f.yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return usage(errors.New("there is no terminal to ask on: use --yes, or --plan to see what would be done"))
	}
	fmt.Fprintf(g.stderr, "Carry out the %s of %s? [y/N] ", f.kind, count(n, "container"))
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was changed")
}

// carryOut begins an operation and follows it to its end.
func (g *global) carryOut(ctx context.Context, u *updating, f updateFlags, p planned) (op api.Operation, err error) {
	wish := change{Acknowledge: f.acknowledge, DryRun: f.dryRun, Digest: p.plan.To.Digest, State: p.plan.State}
	if err := u.post(ctx, containerPath(p.container, string(f.kind)), wish, &op); err != nil {
		return op, err
	}
	out := g.stdout
	if f.json {
		out = g.stderr
	}
	shown := stepPrinter{out: out}
	for {
		shown.print(op)
		if op.State.Ended() {
			_, err = fmt.Fprintln(out, printable(sentenceOf(op)))
			return op, err
		}
		select {
		case <-ctx.Done():
			return op, fmt.Errorf("operation %s goes on; see: dogwatch operations %s", op.ID, op.ID)
		case <-time.After(pollPause):
		}
		var now api.Operation
		if err := u.call(ctx, http.MethodGet, "/api/operations/"+op.ID, &now); err != nil {
			if ctx.Err() != nil {
				continue
			}
			return op, fmt.Errorf("operation %s goes on, and could not be followed: %w", op.ID, err)
		}
		op = now
	}
}
