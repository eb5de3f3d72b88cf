package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/imagediff"
)

func newDiff(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff CONTAINER",
		Short: "Say what the update of a container changes in its image",
		Long: `Asks the Dogwatch that is serving how the image of an update differs from the one that
runs: user, entrypoint, command, ports, volumes, variables, health check, labels, size,
and the layers that both have; with warnings of what may break. Nothing is pulled.

Exit code 0: they are compared. 1: they could not be, or there is no update.`,
		Example: `  # what is different in the newer image?
  dogwatch diff nginx

  # for a script
  dogwatch diff nginx --json`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.containerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.diff(cmd.Context(), args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as the API does")
	return cmd
}

func (g *global) diff(ctx context.Context, name string, asJSON bool) (err error) {
	u, err := g.openUpdating(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.close()) }()
	c, err := lookup.One(u.containers, name)
	if err != nil {
		return err
	}
	var d api.ImageDiff
	if err := u.call(ctx, http.MethodGet, containerPath(c, "diff"), &d); err != nil {
		return err
	}
	if asJSON {
		return printJSON(g.stdout, d)
	}
	return writeDiff(g.stdout, styleOf(g.stdout), c.Name, d)
}

// writeDiff writes the comparison of two images as text.
func writeDiff(w io.Writer, s style, name string, d api.ImageDiff) error {
	var b strings.Builder
	b.WriteString(planTitle(s, name, api.Plan{From: d.From, To: d.To}))
	section := sectionOf(&b, s)
	if size := words.ImageSize(d.Diff); size != nil {
		section("Size", []string{size.String()})
	}
	changes := lines(d.Changes, func(c imagediff.Change) string {
		return fmt.Sprintf("%s: %s → %s", c.Title(), orNone(c.Before), orNone(c.After))
	})
	if d.Omitted > 0 {
		changes = append(changes, "and "+phrase.Count(d.Omitted, "further change").String())
	}
	section("Changes", changes)
	section("Warnings", lines(d.Warnings, func(r imagediff.Warning) string {
		return fmt.Sprintf("the new image %s (%s)", r.Text, r.Code)
	}))
	if len(changes) == 0 {
		section("Changes", []string{"none"})
	}
	_, err := io.WriteString(w, b.String())
	return err
}
