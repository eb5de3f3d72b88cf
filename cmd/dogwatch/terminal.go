package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal returns the width of the terminal that w is, if it is one.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return max(width, 20), true
}
