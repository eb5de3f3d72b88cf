package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

// shownTags is how many tags explain lists unless all are wanted.
const shownTags = 20

func newExplain(g *global) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "explain CONTAINER|IMAGE",
		Short: "Say why a container has the update it has, or none",
		Long: `Makes the decision of a check for one container again and says how it came about:
the rules and where they come from, and what became of each tag. A container is
called by its name, with its watcher in front if need be (local/nginx), by its
display name, its id or the beginning of it, or its image. Anything with a tag,
and anything no watcher knows, is taken for an image.

The Dogwatch that is serving is asked, which also knows why an update is held: by
policies, windows, ages or what somebody chose. Where none is serving, it is made
here, by the labels of the container alone.

Exit code 0: it is explained. 1: there is no such container or image, or it could
not be checked.`,
		Example: `  # why has the container nginx this update, or none?
  dogwatch explain nginx

  # the one of the watcher local, with every tag
  dogwatch explain local/nginx --all

  # an image that does not run here
  dogwatch explain postgres:15-alpine`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := g.explain(cmd.Context(), args[0])
			switch {
			case err != nil:
				return err
			case asJSON:
				err = printJSON(g.stdout, e)
			default:
				err = writeExplanation(g.stdout, styleOf(g.stdout), e, all)
			}
			if err == nil && e.Error != "" {
				return exit(exitFailure)
			}
			return err
		},
	}
	cmd.ValidArgsFunction = first(g.containerNames)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the explanation as the API does")
	cmd.Flags().BoolVar(&all, "all", false,
		fmt.Sprintf("list every tag, not just %d, and the rules that no label sets", shownTags))
	return cmd
}

func (g *global) explain(ctx context.Context, name string) (check.Explanation, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return check.Explanation{}, err
	}
	if e, known := g.explainedByServer(ctx, cfg, name); known {
		return e, nil
	}
	var e check.Explanation
	var failed error
	redactor, err := g.withLoaded(ctx, cfg, neededFor([]string{name}), func(instance *oneshot.Instance) {
		e, failed = g.explained(ctx, instance, name)
	})
	if err != nil {
		return e, err
	}
	if ctx.Err() != nil {
		return e, errors.New("stopped before the explanation was found")
	}
	if e.ID != "" && e.UpdateAvailable {
		e.Summary = append(e.Summary, phrase.Texts(phrase.Verbatim(
			"No Dogwatch is serving here, so whether a rule holds it is not known."))...)
	}
	e.Error = redactor.String(e.Error)
	for i := range e.Summary {
		e.Summary[i].Phrase = phrase.Change(e.Summary[i].Phrase, redactor.String)
	}
	return e, failed
}

// explainedByServer asks the Dogwatch that is serving. known is false where none is, or none of its containers is
// called so.
func (g *global) explainedByServer(
	ctx context.Context, cfg *config.Config, name string,
) (e check.Explanation, known bool) {
	if looksLikeImage(name) {
		return e, false
	}
	c, err := newTrustedClient(cfg)
	var all []sdk.Container
	if err == nil {
		c.keeps = true
		defer func() { _ = c.close() }()
		err = c.call(ctx, http.MethodGet, "/api/containers", &all)
	}
	if found := lookup.Containers(all, name); err == nil && len(found) == 1 {
		stop := spinner(g.stderr, func() string { return "Waiting for the Dogwatch at " + c.base })
		err = c.call(ctx, http.MethodGet, containerPath(found[0], "explain"), &e)
		stop()
		known = err == nil
	}
	if err != nil && !errors.Is(err, errNotServing) && ctx.Err() == nil {
		complain(g.stderr, fmt.Errorf("ask the Dogwatch that is serving: %w", err))
	}
	return e, known
}

func (g *global) explained(ctx context.Context, instance *oneshot.Instance, name string) (check.Explanation, error) {
	container, image, err := g.findOne(ctx, instance, name)
	switch {
	case err != nil:
		return check.Explanation{}, err
	case container == nil:
		return instance.ExplainImage(ctx, image), nil
	}
	return instance.Explain(ctx, *container), nil
}

// writeExplanation writes an explanation as text.
func writeExplanation(w io.Writer, s style, e check.Explanation, all bool) error {
	var b strings.Builder
	title := e.Image
	if e.Name != "" && e.ID != "" {
		title = e.Name + "  " + e.Image
	}
	b.WriteString(s.paint(printable(title), "1") + "\n")
	if e.Registry != "" {
		b.WriteString("asked of " + printable(e.Registry) + "\n")
	}
	b.WriteString("\n")
	for _, sentence := range e.Summary {
		for _, line := range wrap(printable(sentence.String()), s.width) {
			b.WriteString(line + "\n")
		}
	}
	section := func(name string, lines []string) {
		if len(lines) == 0 {
			return
		}
		b.WriteString("\n" + s.paint(name, "1") + "\n")
		for _, line := range lines {
			b.WriteString("  " + printable(line) + "\n")
		}
	}
	var rules []string
	for _, r := range e.Rules {
		if r.IsDefault() && !all {
			continue
		}
		rules = append(rules, fmt.Sprintf("%s = %s (%s)", r.Name, r.Value, r.Source))
	}
	section("Rules", rules)
	section("Warnings", phrase.Strings(e.Warnings))
	section("Tags", verdictLines(e, all))
	_, err := io.WriteString(w, b.String())
	return err
}

// verdictLines lists what became of the tags: those kept first, the newest first in each half.
func verdictLines(e check.Explanation, all bool) []string {
	verdicts := slices.Clone(e.Tags)
	slices.SortStableFunc(verdicts, func(a, b check.Verdict) int {
		switch {
		case a.Kept != b.Kept && a.Kept:
			return -1
		case a.Kept != b.Kept:
			return 1
		case (a.Reason == "newest") != (b.Reason == "newest"):
			if a.Reason == "newest" {
				return -1
			}
			return 1
		}
		return -natural(a.Tag, b.Tag)
	})
	hidden := e.Omitted
	if !all && len(verdicts) > shownTags {
		hidden += len(verdicts) - shownTags
		verdicts = verdicts[:shownTags]
	}
	width := 0
	for _, v := range verdicts {
		width = max(width, len(v.Tag))
	}
	var lines []string
	for _, v := range verdicts {
		mark := "-"
		if v.Kept {
			mark = "+"
		}
		lines = append(lines, fmt.Sprintf("%s %-*s  %s", mark, min(width, 40), v.Tag, v.Detail))
	}
	switch {
	case hidden > 0 && !all:
		lines = append(lines, fmt.Sprintf("… and %d more (--all lists them)", hidden))
	case hidden > 0:
		lines = append(lines, fmt.Sprintf("… and %d more", hidden))
	}
	return lines
}

// natural compares texts, their numbers as numbers: 1.9 is before 1.10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return strings.Compare(a, b)
			}
			a, b = a[1:], b[1:]
			continue
		}
		a, b = a[len(x):], b[len(y):]
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if x != y {
			return strings.Compare(x, y)
		}
	}
	return len(a) - len(b)
}

func digits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}
