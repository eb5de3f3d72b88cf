package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/serve/api"
)

func newOperations(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "operations [ID]",
		Short: "List updates and rollbacks, or show the steps of one",
		Long: `Lists the updates and rollbacks of the Dogwatch that is serving, the newest first, those
under way too; or shows the steps of one and how it ended.`,
		Example: `  # what was updated, by whom, and how it went
  dogwatch operations

  # the steps of one, and an end to it
  dogwatch operations 1d8k2m0a
  dogwatch operations cancel 1d8k2m0a

  # for a script
  dogwatch operations --json`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.operations(cmd.Context(), asJSON, args) },
	}
	cmd.ValidArgsFunction = first(g.operationIDs(false))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the API does")
	cmd.AddCommand(newOperationsCancel(g))
	return cmd
}

func newOperationsCancel(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "Stop an update or rollback before its next step",
		Long: `Has the Dogwatch that is serving stop an operation before its next step. What was
done already is taken back, so that the container is as it was before. One that is
taking itself back goes on with that.

Exit code 0: it will stop. 1: it cannot be cancelled, since it has ended.`,
		Example: `  # the one that dogwatch operations lists as running
  dogwatch operations cancel 1d8k2m0a

  # upper and lower case do not matter
  dogwatch operations cancel 1D8K2M0A`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.operationIDs(true)),
		RunE:              func(cmd *cobra.Command, args []string) error { return g.cancelOperation(cmd.Context(), args[0]) },
	}
}

func (g *global) cancelOperation(ctx context.Context, id string) error {
	c, err := g.trustedClient()
	if err != nil {
		return err
	}
	var op api.Operation
	if err := c.post(ctx, "/api/operations/"+url.PathEscape(id)+"/cancel", struct{}{}, &op); err != nil {
		return err
	}
	_, err = fmt.Fprintln(g.stdout, printable(sentenceOf(op)))
	return err
}

func (g *global) operations(ctx context.Context, asJSON bool, args []string) error {
	c, err := g.trustedClient()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		var all []api.Operation
		if err := c.call(ctx, http.MethodGet, "/api/operations", &all); err != nil {
			return err
		}
		if asJSON {
			return printJSON(g.stdout, all)
		}
		return writeOperations(g.stdout, all)
	}
	var op api.Operation
	if err := c.call(ctx, http.MethodGet, "/api/operations/"+url.PathEscape(args[0]), &op); err != nil {
		return err
	}
	if asJSON {
		return printJSON(g.stdout, op)
	}
	err = writePlan(g.stdout, styleOf(g.stdout), op.Watcher+"/"+op.Name, api.Plan{
		From: op.Plan.From, To: op.Plan.To, Files: op.Plan.Files,
	})
	shown := stepPrinter{out: g.stdout}
	shown.print(op)
	shown.end(op)
	return err
}

func writeOperations(w io.Writer, all []api.Operation) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "there are no operations")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tKIND\tCONTAINER\tTO\tSTATE\tBY\tQUEUED")
	for _, op := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", op.ID, op.Kind, printable(op.Watcher+"/"+op.Name),
			printable(op.Plan.To.Reference), stateOf(op), printable(cmp.Or(op.Actor, op.Trigger)), preview.Moment(op.QueuedAt))
	}
	return t.Flush()
}
