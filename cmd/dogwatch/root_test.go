package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commands returns every command, those that only hold others too.
func commands(c *cobra.Command) []*cobra.Command {
	found := []*cobra.Command{}
	if c.HasParent() {
		found = append(found, c)
	}
	for _, sub := range c.Commands() {
		found = append(found, commands(sub)...)
	}
	return found
}

// TestCommandsHaveHelpAndExamples: each says in a few sentences what it does, and shows
// command lines that are right.
func TestCommandsHaveHelpAndExamples(t *testing.T) {
	all := commands(newRoot(io.Discard, io.Discard))
	if len(all) < 15 {
		t.Fatalf("only %d commands were found", len(all))
	}
	for _, c := range all {
		path := c.CommandPath()
		if c.Long == "" || c.Example == "" {
			t.Errorf("%s lacks a description or examples", path)
		}
		for _, text := range []string{c.Short, c.Long} {
			for _, line := range strings.Split(text, "\n") {
				if len(line) > 90 {
					t.Errorf("%s: a line of the help is wider than 90: %q", path, line)
				}
			}
		}
		if strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: %q ends with a dot", path, c.Short)
		}
		shown, explained := 0, 0
		for _, line := range strings.Split(c.Example, "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") {
				explained++
			}
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			_, args, is := strings.Cut(line, "dogwatch ")
			if !is {
				t.Errorf("%s: the example %q runs something else", path, line)
				continue
			}
			args, _, _ = strings.Cut(args, " >")
			args, _, _ = strings.Cut(args, " |")
			shown++
			if err := parses(strings.Fields(args)); err != nil {
				t.Errorf("%s: the example %q: %v", path, line, err)
			}
			ofGroup := c.HasParent() && c.Parent().HasParent() &&
				strings.HasPrefix("dogwatch "+args, c.Parent().CommandPath()+" ")
			if !strings.HasPrefix("dogwatch "+args+" ", path+" ") && !ofGroup {
				t.Errorf("%s: the example %q is of another command", path, line)
			}
		}
		if shown < 2 || explained == 0 {
			t.Errorf("%s shows %d examples and explains %d, want two that can be run and what for", path, shown, explained)
		}
	}
}

// TestCommandsAreDocumented: docs/commandline.md has every command.
func TestCommandsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/commandline.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands(newRoot(io.Discard, io.Discard)) {
		if !c.HasSubCommands() && !strings.Contains(string(text), "`"+c.CommandPath()+"`") {
			t.Errorf("docs/commandline.md lacks %s", c.CommandPath())
		}
	}
}

// parses reads a command line without doing what it says.
func parses(words []string) error {
	root := newRoot(io.Discard, io.Discard)
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

func TestParseRejectsMistakes(t *testing.T) {
	for _, wrong := range []string{"chekc", "check --fromat json", "version now", "check --format yaml"} {
		if parses(strings.Fields(wrong)) == nil {
			t.Errorf("%s is taken for right", wrong)
		}
	}
}
