package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/verify"
)

func newPluginVerify(g *global) *cobra.Command {
	var set []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check that an executable is a plugin as it should be",
		Long: `Starts an executable as Dogwatch does, in whatever language it is written, and checks
what a plugin has to do: its start, what it says of itself, wrong options, calls to
servers on this machine that answer, fail and hang, cancelled calls, the events that a
watcher follows, secrets and its end. It says who holds its types here: what is built in
no other plugin can hold. No configuration is needed: addresses are those of these
servers, files are in a folder that is removed, secrets are made up. Options that it
cannot guess are given.

Ends with 1 when a check failed. What is skipped does not apply, or needs options.`,
		Example: `  # what you have just built
  dogwatch plugin verify ./trigger-lamp

  # with options that work
  dogwatch plugin verify ./watcher-list --set path=/tmp/list.json`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options := map[string]string{}
			for _, pair := range set {
				name, value, given := strings.Cut(pair, "=")
				if !given {
					return usage(fmt.Errorf("--set %s: want NAME=VALUE", pair))
				}
				options[strings.ToLower(name)] = value
			}
			stop := spinner(g.stderr, func() string { return "Verifying " + args[0] })
			defer stop()
			report, err := verify.Run(cmd.Context(), verify.Options{
				File: args[0], Set: options, Holder: g.holderOf(cmd.Context()),
			})
			stop()
			if err != nil {
				return fmt.Errorf("verify %s: %w", args[0], err)
			}
			if asJSON {
				err = printJSON(g.stdout, report)
			} else {
				err = writeReport(g.stdout, report)
			}
			if err == nil && !report.OK() {
				return exit(exitFailure)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "an option of its types, as `NAME=VALUE`; more than one can be given")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// holderOf returns who holds a type here. Without a usable configuration or store only
// what is built in is known.
func (g *global) holderOf(ctx context.Context) func(typ string) plugin.Holder {
	var holders *plugin.Holders
	cfg, err := g.load(nil)
	if err == nil {
		holders, err = g.typeHolders(ctx, cfg)
	}
	if err != nil {
		holders = plugin.OnlyBuiltin(builtins())
	}
	return holders.Of
}

// writeReport writes a table of checks, and what to do about those that failed.
func writeReport(w io.Writer, r verify.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	count := map[verify.Verdict]int{}
	for _, c := range r.Results {
		count[c.Verdict]++
		subject := cmp.Or(c.Type, "-")
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", subject, c.Check, c.Verdict, printable(c.Text))
		if c.Remedy != "" {
			fmt.Fprintf(t, "\t\t\t%s\n", printable("remedy: "+c.Remedy))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d ok, %d failed, %d skipped\n", count[verify.OK], count[verify.Failed],
		count[verify.Skipped])
	return err
}
