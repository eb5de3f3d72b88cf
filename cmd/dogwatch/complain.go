package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/serve/api"
)

// refusedError is the problem document of a response.
type refusedError struct {
	Detail string `json:"detail"`
	// Code says why a container is not changed; Plan has the blocks.
	Code string    `json:"code"`
	Plan *api.Plan `json:"plan"`
	// Paste has the lines that allow what was refused.
	Paste config.Paste `json:"paste"`
}

func (e *refusedError) Error() string { return e.Detail }

// complain writes what is wrong to stderr, and the lines that mend it. Errors quote what others wrote.
func complain(stderr io.Writer, problem any) {
	fmt.Fprintln(stderr, "dogwatch:", logging.Sanitize(fmt.Sprint(problem)))
	var refused *refusedError
	if err, ok := problem.(error); ok && errors.As(err, &refused) {
		writePaste(stderr, refused.Paste)
	}
}

// writePaste writes lines to paste, indented, and where to read about them.
func writePaste(w io.Writer, p config.Paste) {
	for _, l := range p.Lines {
		fmt.Fprintf(w, "\n%s:\n\n", printable(l.Where))
		for line := range strings.Lines(l.Text) {
			fmt.Fprintln(w, "  "+printable(strings.TrimRight(line, "\r\n")))
		}
	}
	if p.Docs != "" {
		fmt.Fprintf(w, "\nSee %s\n", printable(p.Docs))
	}
}
