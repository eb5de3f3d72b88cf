package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/sdk"
)

func newNotes(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "notes CONTAINER",
		Short: "Show the release notes of what a container is offered",
		Long: `Has the Dogwatch that is serving show the notes of all releases between the version that
a container runs and the one that it is offered, the newest first. They come from GitHub,
GitLab, Gitea or Forgejo, or from the store if they were read within an hour.

Exit code 0: shown. 1: there is no such container, or no notes; the reason is printed.`,
		Example: `  # what does the update bring, and what breaks?
  dogwatch notes grafana

  # for a script
  dogwatch notes local/grafana --json`,
		Args:              exactly(1),
		ValidArgsFunction: first(g.containerNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return g.notes(cmd.Context(), asJSON, args[0]) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the notes as the API does")
	return cmd
}

func (g *global) notes(ctx context.Context, asJSON bool, name string) error {
	c, container, err := g.servedContainer(ctx, name)
	if err != nil {
		return err
	}
	var n notes.Notes
	if err := c.call(ctx, http.MethodGet, "/api/containers/"+url.PathEscape(container.ID)+"/notes", &n); err != nil {
		return err
	}
	switch {
	case asJSON:
		err = printJSON(g.stdout, n)
	default:
		err = writeNotes(g.stdout, styleOf(g.stdout), n)
	}
	if err == nil && len(n.Notes) == 0 {
		if asJSON {
			return exit(exitFailure)
		}
		return errors.New(printable(n.Reason))
	}
	return err
}

// servedContainer returns the container of a name, and a client of the Dogwatch that serves it.
func (g *global) servedContainer(ctx context.Context, name string) (c *client, found sdk.Container, err error) {
	if c, err = g.trustedClient(); err != nil {
		return c, found, err
	}
	var all []sdk.Container
	if err = c.call(ctx, http.MethodGet, "/api/containers", &all); err == nil {
		found, err = lookup.One(all, name)
	}
	return c, found, err
}

// writeNotes writes release notes as text: their Markdown as it is, and what they warn of
// without its markup.
func writeNotes(w io.Writer, s style, n notes.Notes) error {
	var b strings.Builder
	renderer := notes.NewRenderer()
	for i, note := range n.Notes {
		if i > 0 {
			b.WriteString("\n")
		}
		title := note.Version
		if !note.Date.IsZero() {
			title += "  " + note.Date.UTC().Format("2 Jan 2006")
		}
		fmt.Fprintf(&b, "%s\n%s\n", s.paint(printable(title), "1"), printable(note.URL))
		for _, line := range note.Breaking {
			b.WriteString(s.paint("breaking: "+printable(renderer.Plain(line)), "31") + "\n")
		}
		for _, line := range note.Action {
			b.WriteString(s.paint("to do: "+printable(renderer.Plain(line)), "33") + "\n")
		}
		if note.Body != "" {
			b.WriteString("\n")
		}
		for line := range strings.Lines(note.Body) {
			b.WriteString(printable(strings.TrimRight(line, "\r\n")) + "\n")
		}
		if note.Truncated {
			b.WriteString("… the rest is on its page\n")
		}
	}
	if n.Incomplete {
		b.WriteString("\nThere may be older ones: " + printable(n.Repository) + "/releases\n")
	}
	if n.Reason != "" && len(n.Notes) > 0 {
		b.WriteString("\n" + printable(n.Reason) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
