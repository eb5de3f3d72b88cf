package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/api"
	"github.com/dogwatch/dogwatch/core/operation"
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

  # for a script
  dogwatch operations --json`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.operations(cmd.Context(), asJSON, args) },
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the API does")
	return cmd
}

func (g *global) operations(ctx context.Context, asJSON bool, args []string) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	c, err := newTrustedClient(cfg)
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
	err = writePlan(g.stdout, styleOf(g.stdout), op.Watcher+"/"+op.Name, api.Plan{From: op.Plan.From, To: op.Plan.To})
	shown := stepPrinter{out: g.stdout}
	shown.print(op)
	_, err2 := fmt.Fprintln(g.stdout, printable(sentenceOf(op)))
	return errors.Join(err, err2)
}

func writeOperations(w io.Writer, all []api.Operation) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "there are no operations")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tKIND\tCONTAINER\tTO\tSTATE\tBY\tQUEUED")
	for _, op := range all {
		by := op.Actor
		if by == "" {
			by = op.Trigger
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", op.ID, op.Kind, printable(op.Watcher+"/"+op.Name), printable(op.Plan.To.Reference), op.State, printable(by), op.QueuedAt.Local().Format("2006-01-02 15:04"))
	}
	return t.Flush()
}

// stepPrinter prints what is new about the steps of an operation.
type stepPrinter struct {
	out          io.Writer
	began, ended int
}

func (p *stepPrinter) print(op api.Operation) {
	for i, s := range op.Steps {
		if i >= p.began {
			fmt.Fprintf(p.out, "  … %s\n", printable(s.Text))
			p.began = i + 1
		}
		if i < p.ended || !s.Ended {
			continue
		}
		p.ended = i + 1
		mark := "ok"
		if s.Error != "" {
			mark = "failed: " + s.Error
		}
		fmt.Fprintf(p.out, "    %s (%s)\n", printable(mark), brief(s.EndedAt.Sub(s.BeganAt)))
	}
}

// sentenceOf says how far an operation is, or how it ended.
func sentenceOf(op api.Operation) string {
	text := fmt.Sprintf("%s of %s/%s: %s", op.Kind, op.Watcher, op.Name, op.State)
	if op.State == operation.Succeeded && op.DryRun {
		text += " (dry run: only the image was pulled)"
	}
	if op.Outcome != nil && op.Outcome.Downtime > 0 {
		text += fmt.Sprintf(", down for %s", brief(time.Duration(op.Outcome.Downtime*float64(time.Second))))
	}
	if op.Error != "" {
		text += ": " + op.Error
	}
	return text
}
