package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// agree asks the user on a terminal, unless yes is set. without is what else there
// is to do without a terminal.
func (g *global) agree(ctx context.Context, yes bool, question, without string) error {
	if yes {
		return nil
	}
	if !interactive() {
		return usage(errors.New("there is no terminal to ask on: use --yes" + without))
	}
	if g.says(ctx, question) {
		return nil
	}
	return errors.New("nothing was changed")
}

// interactive reports whether there is a terminal to ask on.
func interactive() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// says asks a question on the terminal, and reports whether the answer is yes.
func (g *global) says(ctx context.Context, question string) bool {
	fmt.Fprintf(g.stderr, "%s [y/N] ", question)
	response := make(chan string, 1)
	go func() { // reading cannot be broken off: it ends with the program
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		response <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-response:
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		fmt.Fprintln(g.stderr)
		return false
	}
}
