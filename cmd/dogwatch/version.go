package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

func newVersion(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of Dogwatch and of what it is made with",
		Long: `Prints the version of Dogwatch, the commit it was built from and the date of that, the
version of Go, and that of the protocol its plugins speak: what a report of a fault
should hold.`,
		Example: `  # everything
  dogwatch version

  # the version alone
  dogwatch version | head -n 1`,
		Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(g.stdout, "dogwatch %s\n", version)
			if info, ok := debug.ReadBuildInfo(); ok {
				if commit, date := commitOf(info); commit != "" {
					fmt.Fprintf(g.stdout, "commit   %s\ndate     %s\n", commit, date)
				}
			}
			fmt.Fprintf(g.stdout, "go       %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
			fmt.Fprintf(g.stdout, "plugins  protocol %d\n", protocol.Version)
			return nil
		},
	}
}

// commitOf returns the commit a binary was built from and when it was made, in UTC as RFC 3339 has it; "" when the
// build did not record it.
func commitOf(info *debug.BuildInfo) (commit, date string) {
	var note string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.time":
			date = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			note = ", with changes"
		}
	}
	if commit == "" {
		return "", ""
	}
	return commit + note, date
}
