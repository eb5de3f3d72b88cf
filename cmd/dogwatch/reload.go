package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
)

// pathReload is where a running Dogwatch compares and reloads its configuration.
const pathReload = "/api/reload"

func newReload(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have the Dogwatch that is serving read its configuration anew",
		Long: `Has the Dogwatch that is serving read its configuration file, and the files of secrets,
as they are now, and apply what differs. Watchers, registries and triggers that are the
same go on undisturbed; those that are new or different start. Policies count at once.
When any other setting differs, everything restarts within the process. A configuration
with a mistake changes nothing, and the exit code is 1.

The signal SIGHUP does the same (docker kill --signal HUP dogwatch). The environment of
a process does not change: what is set there needs a new start.`,
		Example: `  # after dogwatch config diff has said what it would change
  dogwatch reload

  # for a script
  dogwatch reload --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return g.reload(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the API does")
	return cmd
}

func newConfigDiff(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Print what dogwatch reload would change",
		Long: `Compares the configuration that the Dogwatch that is serving goes by with its file, and
the files of secrets, as they are now. Plugins check what is new or different; nothing is
changed. Secrets are masked. Each line is a value: + is new, - is gone, ~ is another one.

Exit code 0: nothing differs. 1: the configuration has mistakes. 3: there are differences.`,
		Example: `  # before a reload
  dogwatch config diff

  # for a script
  dogwatch config diff --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return g.configDiff(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the API does")
	return cmd
}

func (g *global) reload(ctx context.Context, asJSON bool) error {
	c, err := g.trustedClient()
	if err != nil {
		return err
	}
	var result reload.Result
	if err := c.post(ctx, pathReload, struct{}{}, &result); err != nil {
		return err
	}
	if asJSON {
		return printJSON(g.stdout, result)
	}
	g.printReload(result)
	switch {
	case !result.Any():
		fmt.Fprintln(g.stdout, "the configuration is what it was")
	case result.Restart:
		fmt.Fprintln(g.stdout, "everything restarts with it")
	default:
		fmt.Fprintln(g.stdout, "reloaded")
	}
	return nil
}

func (g *global) configDiff(ctx context.Context, asJSON bool) error {
	c, err := g.trustedClient()
	if err != nil {
		return err
	}
	var result reload.Result
	if err := c.call(ctx, "GET", pathReload, &result); err != nil {
		return err
	}
	if asJSON {
		err = printJSON(g.stdout, result)
	} else {
		g.printReload(result)
		if result.Restart && len(result.Errors) == 0 {
			fmt.Fprintln(g.stdout, "some of it is read at the start only: dogwatch reload restarts everything")
		}
	}
	switch {
	case err != nil:
		return err
	case len(result.Errors) > 0:
		return exit(exitFailure)
	case result.Any():
		return exit(exitUpdates)
	case !asJSON:
		fmt.Fprintln(g.stdout, "nothing differs")
	}
	return nil
}

// printReload prints what differs, and what is wrong.
func (g *global) printReload(r reload.Result) {
	for _, d := range r.Differences {
		fmt.Fprintln(g.stdout, printable(d.String()))
	}
	for _, p := range []struct {
		what string
		ids  []string
	}{{"starts", r.Added}, {"restarts", r.Changed}, {"stops", r.Removed}} {
		if len(p.ids) > 0 {
			fmt.Fprintf(g.stdout, "%s: %s\n", p.what, printable(strings.Join(p.ids, ", ")))
		}
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(g.stdout, "warning: %s\n", printable(text))
	}
	for _, text := range r.Errors {
		fmt.Fprintf(g.stdout, "error: %s\n", printable(text))
	}
}
