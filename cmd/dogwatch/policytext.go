package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// writePreview writes what becomes of updates; was is what becomes of them without the
// rules that are tried, nil when none is.
func writePreview(w io.Writer, s style, p preview.Preview, was *preview.Preview) error {
	states := map[string]string{}
	if was != nil {
		for _, c := range was.Containers {
			states[c.Name] = cmp.Or(c.State, "no update")
		}
	}
	var b strings.Builder
	for _, c := range p.Containers {
		if c.State == "" && len(p.Containers) > 1 {
			continue
		}
		b.WriteString(s.paint(printable(c.Name), "1"))
		if c.Target != "" {
			b.WriteString("  " + printable(c.Running+arrow+c.Target))
		}
		state := cmp.Or(c.State, "no update")
		b.WriteString("  " + state)
		if before := states[c.Name]; was != nil && before != state {
			b.WriteString(", now " + before)
		}
		b.WriteString("\n")
		for _, r := range c.Reasons {
			for _, line := range wrap(printable(phrase.English(preview.Sentence(r))), s.width-2*gap) {
				b.WriteString(strings.Repeat(" ", 2*gap) + line + "\n")
			}
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(windowLines(p))
	if was == nil {
		b.WriteString(s.paint(p.String(), "1") + "\n")
	} else {
		fmt.Fprintf(&b, "now: %s\n%s\n", was.Counts, s.paint("with this rule: "+p.String(), "1"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// windowLines lists the next windows, each once with the containers it is for.
func windowLines(p preview.Preview) string {
	var b strings.Builder
	for _, windows := range p.Windows() {
		const named = 3
		names := windows.Containers
		if more := len(names) - named; more > 0 {
			names = append(slices.Clone(names[:named]), fmt.Sprintf("%d more", more))
		}
		fmt.Fprintf(&b, "windows of %s\n", printable(strings.Join(names, ", ")))
		if windows.NeverOpens != "" {
			b.WriteString("    never: " + printable(windows.NeverOpens) + "\n")
		}
		for _, opening := range windows.Openings {
			b.WriteString("    " + opening.String() + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// writeUses writes rules as a table, and the named policies that no container uses.
func writeUses(w io.Writer, uses []preview.Use, unused []string) error {
	if len(uses) == 0 && len(unused) == 0 {
		_, err := fmt.Fprintln(w, "no rules are set: every update is offered at once")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(uses) > 0 {
		fmt.Fprintln(t, "RULE\tVALUE\tSOURCE\tCONTAINERS\tUPDATES")
	}
	for _, u := range uses {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", u.Name, printable(u.Value), printable(u.Source), len(u.Containers), u.Counts)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range unused {
		if _, err := fmt.Fprintf(w, "no container uses %s\n", printable(name)); err != nil {
			return err
		}
	}
	return nil
}
