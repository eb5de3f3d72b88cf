package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

func newScan(g *global) *cobra.Command {
	var asJSON, stored bool
	cmd := &cobra.Command{
		Use:   "scan CONTAINER",
		Short: "Say which vulnerabilities the update of a container fixes and adds",
		Long: `Has the Dogwatch that is serving run its scanner (scan.command: Trivy, Grype or a
command of yours) for the image that a container runs and for the new one, waits for
it and says how they compare. What was scanned within scan.maxage is not scanned again.

Exit code 0: they are compared. 1: they could not be, or there is no update.`,
		Example: `  # what does the update fix?
  dogwatch scan nginx

  # what was found last, for a script
  dogwatch scan nginx --stored --json`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.containerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.scan(cmd.Context(), args[0], stored, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as the API does")
	cmd.Flags().BoolVar(&stored, "stored", false, "scan nothing: print what is known")
	return cmd
}

func (g *global) scan(ctx context.Context, name string, stored, asJSON bool) error {
	c, container, err := g.servedContainer(ctx, name)
	if err != nil {
		return err
	}
	path := "/api/containers/" + url.PathEscape(container.ID) + "/scan"
	var result api.Scan
	if stored {
		err = c.call(ctx, http.MethodGet, path, &result)
	} else {
		result, err = g.awaitScan(ctx, c, path)
	}
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(g.stdout, result)
	} else if result.Comparison != nil {
		err = writeScan(g.stdout, styleOf(g.stdout), container.Name, result)
	}
	switch {
	case err != nil:
		return err
	case result.Error != "":
		return errors.New(printable(result.Error))
	case result.Comparison == nil:
		return fmt.Errorf("the images of %s were not compared yet: leave --stored out to scan them",
			printable(container.Name))
	}
	return nil
}

// awaitScan has images scanned, and returns when that has ended.
func (g *global) awaitScan(ctx context.Context, c *client, path string) (result api.Scan, err error) {
	if err := c.call(ctx, http.MethodPost, path, &result); err != nil {
		return result, err
	}
	began := time.Now()
	steps := make(chan string, 1)
	step := result.Step
	stop := spinner(g.stderr, func() string {
		select {
		case step = <-steps:
		default:
		}
		step = cmp.Or(step, "waiting for another scan")
		return fmt.Sprintf("%s, %s", printable(step), words.Took(time.Since(began)))
	})
	defer stop()
	for {
		if result.State != string(scan.Waiting) && result.State != string(scan.Running) {
			return result, nil
		}
		select {
		case <-ctx.Done():
			return result, errors.New("stopped waiting; the scan goes on, and dogwatch scan --stored says what it found")
		case <-time.After(2 * pollPause):
		}
		result = api.Scan{}
		if err := c.call(ctx, http.MethodGet, path, &result); err != nil {
			return result, err
		}
		select {
		case steps <- result.Step:
		default: // the last one is not shown yet
		}
	}
}

// writeScan writes the comparison of two images as text.
func writeScan(w io.Writer, s style, name string, result api.Scan) error {
	var b strings.Builder
	c := result.Comparison
	fmt.Fprintf(&b, "%s  the new image %s\nremaining: %s\n", s.paint(printable(name), "1"), printable(result.Summary),
		c.Remaining.Vulnerabilities())
	fmt.Fprintf(&b, "scanned %s with %s\n", preview.Moment(c.At.Time), printable(c.Scanner))
	for _, group := range []struct {
		title string
		n     int
		found []vulnerability.Finding
	}{{"Fixed", c.Fixed.Total(), c.FixedFindings}, {"Added", c.Added.Total(), c.AddedFindings}} {
		if group.n == 0 {
			continue
		}
		b.WriteString(s.paint(group.title, "1") + "\n")
		for _, f := range group.found {
			line := fmt.Sprintf("  %-10s  %-20s  %s %s", f.Severity, printable(f.ID), printable(f.Package),
				printable(f.Installed))
			if f.Fixed != "" {
				line += ", fixed in " + printable(f.Fixed)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if more := group.n - len(group.found); more > 0 {
			fmt.Fprintf(&b, "  and %d more\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
