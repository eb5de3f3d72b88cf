package tag

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// repository is a file of testdata/corpus; its README says how they are written.
type repository struct {
	name    string
	tags    []string
	running []expectation
}

// expectation is a container and what a careful person would do about it.
type expectation struct {
	line    int
	rules   Rules
	current string
	want    string // "" for nothing
	word    string // the kind of step, or why there is none
}

// reasons are the words for "nothing newer", and whether the tag is a version.
var reasons = map[string]bool{"newest": true, "ended": true, "channel": false, "hash": false, "branch": false}

// readCorpus reads all files of testdata/corpus.
func readCorpus(t testing.TB) []repository {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var repositories []repository
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := parseRepository(strings.TrimSuffix(filepath.Base(file), ".txt"), string(data))
		if err != nil {
			t.Fatalf("%s:%v", file, err)
		}
		repositories = append(repositories, r)
	}
	return repositories
}

func parseRepository(name, text string) (repository, error) {
	r := repository{name: name}
	var rules Rules
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ": ")
		switch fields := strings.Fields(line); {
		case line == "" || line[0] == '#':
		case line == "tags:" || line == "running:":
			section, rules = line, Rules{}
		case section == "tags:":
			for _, field := range fields {
				r.tags = append(r.tags, expand(field)...)
			}
		case section == "running:" && key == "include":
			rules.Include = value
		case section == "running:" && key == "exclude":
			rules.Exclude = value
		case section == "running:" && key == "transform":
			rules.Transform = value
		case section == "running:" && line == "prerelease: true":
			rules.Prerelease = true
		case section == "running:" && len(fields) == 3:
			e := expectation{line: i + 1, rules: rules, current: fields[0], want: fields[1], word: fields[2]}
			if e.want == "-" {
				e.want = ""
			}
			r.running = append(r.running, e)
		default:
			return r, fmt.Errorf("%d: cannot read %q", i+1, line)
		}
	}
	return r, nil
}

// expand writes out the alternatives of a word as a shell does: 1.{2,3}{,-alpine} are
// four tags, and {1..3} counts.
func expand(word string) []string {
	open := strings.IndexByte(word, '{')
	if open < 0 {
		return []string{word}
	}
	end := open + strings.IndexByte(word[open:], '}')
	alternatives := strings.Split(word[open+1:end], ",")
	if first, last, ok := strings.Cut(word[open+1:end], ".."); ok {
		alternatives = nil
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		for n := from; n <= to; n++ {
			alternatives = append(alternatives, strconv.Itoa(n))
		}
	}
	var words []string
	for _, rest := range expand(word[end+1:]) {
		for _, a := range alternatives {
			words = append(words, word[:open]+a+rest)
		}
	}
	return words
}

// What a careful person would do with the containers of real repositories.
func TestSelectInCorpus(t *testing.T) {
	repositories := readCorpus(t)
	tags, containers := 0, 0
	for _, r := range repositories {
		tags += len(r.tags)
		containers += len(r.running)
		t.Run(r.name, func(t *testing.T) { checkRepository(t, r) })
	}
	if len(repositories) < 60 {
		t.Errorf("only %d repositories", len(repositories))
	}
	t.Logf("%d repositories, %d tags, %d containers", len(repositories), tags, containers)
}

func checkRepository(t *testing.T, r repository) {
	if len(r.tags) < 30 || len(r.running) < 3 {
		t.Errorf("%d tags and %d containers: too few to tell", len(r.tags), len(r.running))
	}
	seen := map[string]bool{}
	for _, tag := range r.tags {
		if seen[tag] {
			t.Errorf("%q is listed twice", tag)
		}
		seen[tag] = true
	}
	for _, e := range r.running {
		about := fmt.Sprintf("line %d: %+v: %q", e.line, e.rules, e.current)
		if !seen[e.current] || (e.want != "" && !seen[e.want]) {
			t.Errorf("%s: it or %q is not among the tags", about, e.want)
		}
		s := mustCompile(t, e.rules)
		got, err := s.Explain(t.Context(), e.current, r.tags)
		if err != nil {
			t.Fatal(err)
		}
		if want := e.want; got.Newer != (want != "") || (got.Newer && got.Tag != want) {
			t.Errorf("%s moves to %q, want %q", about, got.Tag, want)
		} else if isVersion, ok := reasons[e.word]; want == "" && (!ok || isVersion != s.IsVersion(e.current)) {
			t.Errorf("%s stays, %q; is a version: %v", about, e.word, s.IsVersion(e.current))
		} else if want != "" && s.Diff(e.current, want) != e.word {
			t.Errorf("%s moves to %q: %q, want %q", about, want, s.Diff(e.current, want), e.word)
		}
		// What has ended goes on under other names, what is the newest does not.
		if later := laterElsewhere(s, e.current, r.tags); e.word == "ended" && !later {
			t.Errorf("%s has ended, but nothing is later", about)
		}
		if e.want != "" {
			after, err := s.Select(t.Context(), e.want, r.tags)
			if err != nil || (after.Newer && after.LeftBase == "") {
				t.Errorf("%s moves to %q, which moves to %q on the same base", about, e.want, after.Tag)
			}
		}
	}
}

// laterElsewhere reports whether a release has higher numbers than the tag.
func laterElsewhere(s *Selector, current string, tags []string) bool {
	var a, b version
	if !s.read(&a, s.Transform(current)) {
		return false
	}
	return slices.ContainsFunc(tags, func(tag string) bool {
		return s.read(&b, s.Transform(tag)) && b.stage.release() && compareMain(&b, &a) > 0
	})
}
