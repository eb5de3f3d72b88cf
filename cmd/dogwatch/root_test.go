package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commands returns every command that does something, with its path.
func commands(c *cobra.Command) []*cobra.Command {
	found := []*cobra.Command{}
	if c.HasParent() && !c.HasSubCommands() {
		found = append(found, c)
	}
	for _, sub := range c.Commands() {
		found = append(found, commands(sub)...)
	}
	return found
}

// TestEveryCommandTeaches: each says in a few sentences what it does, and shows
// command lines that are right.
func TestEveryCommandTeaches(t *testing.T) {
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
		shown := false
		for _, line := range strings.Split(c.Example, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			_, args, is := strings.Cut(line, "dogwatch ")
			if !is {
				t.Errorf("%s: the example %q runs something else", path, line)
				continue
			}
			args, _, _ = strings.Cut(args, " >")
			shown = true
			if err := parses(strings.Fields(args)); err != nil {
				t.Errorf("%s: the example %q: %v", path, line, err)
			}
			if !strings.HasPrefix("dogwatch "+args+" ", path+" ") {
				t.Errorf("%s: the example %q is of another command", path, line)
			}
		}
		if !shown {
			t.Errorf("%s has no example that can be run", path)
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

func TestParsesCanFail(t *testing.T) {
	for _, wrong := range []string{"chekc", "check --fromat json", "version now", "check --format yaml"} {
		if parses(strings.Fields(wrong)) == nil {
			t.Errorf("%s is taken for right", wrong)
		}
	}
}
