package tag

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

var updatePatterns = flag.Bool("update-patterns", false, "rewrite the answers in testdata/patterns-select.txt")

// harmless patterns exclude nothing that would be chosen otherwise.
var harmless = map[string]bool{"with": true, "^*selenoid*$": true}

// TestSelectWithPatternsOfUsers chooses with every pattern that users put on containers,
// among tags that such a repository may have, with traps that the pattern is
// to keep out. A block of the file is the rule, the tags, and the answer for the
// tag that runs.
func TestSelectWithPatternsOfUsers(t *testing.T) {
	const path = "testdata/patterns-select.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten []string
	seen := map[string]bool{}
	for block := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n\n") {
		lines := strings.Split(block, "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[1], "tags ") {
			t.Fatalf("not a block: %q", block)
		}
		kind, value, _ := strings.Cut(lines[0], " ")
		tags := strings.Fields(lines[1])[1:]
		current, want, _ := strings.Cut(lines[2], " ->")
		seen[lines[0]] = true
		if !slices.Contains(tags, current) {
			t.Errorf("%s: the running tag %s is not among the tags", lines[0], current)
		}
		got := chosen(t, kind, value, current, tags)
		if kind == "exclude" && got == chosen(t, kind, "", current, tags) && !harmless[value] {
			t.Errorf("%s: the answer does not depend on it", lines[0])
		}
		if got != want {
			t.Errorf("%s: %s -> %s, want %s", lines[0], current, got, want)
		}
		rewritten = append(rewritten, lines[0]+"\n"+lines[1]+"\n"+current+" ->"+got)
	}
	if *updatePatterns {
		if err := os.WriteFile(path, []byte(strings.Join(rewritten, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var corpus map[string]any
	load(t, "patterns.json", &corpus)
	for _, kind := range []string{"include", "exclude", "transform"} {
		for _, entry := range corpus[kind].([]any) {
			if rule := fmt.Sprint(kind, " ", entry.(map[string]any)["value"]); !seen[rule] {
				t.Errorf("no block for %s", rule)
			}
		}
	}
}

// chosen returns what is said of a container: a newer tag, that there is none,
// that it runs no version, or what is wrong.
func chosen(t *testing.T, kind, value, current string, tags []string) string {
	t.Helper()
	rules := map[string]Rules{
		"include": {Include: value}, "exclude": {Exclude: value}, "transform": {Transform: value},
	}[kind]
	s, err := Compile(rules)
	if err != nil {
		return " refused: " + err.Error()
	}
	if !s.IsVersion(current) {
		return " no version" + warned(s.warnings)
	}
	found, err := s.Select(t.Context(), current, tags)
	switch {
	case err != nil:
		return " error: " + err.Error()
	case found.Newer:
		return " " + found.Tag + warned(found.Warnings)
	}
	return " none" + warned(found.Warnings)
}

func warned(warnings []phrase.Phrase) string {
	if len(warnings) == 0 {
		return ""
	}
	return " (" + phrase.Join("; ", warnings...).String() + ")"
}
