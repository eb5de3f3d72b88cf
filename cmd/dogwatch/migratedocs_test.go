package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
)

const migration = "../../docs/migrate"

// tableRows returns the cells of all rows of all tables of a page, the head rows apart.
func tableRows(t *testing.T, page string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(migration, page))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, table := range regexp.MustCompile(`(?m)^\|[- |]+\|\n((?:\|.*\n)+)`).FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(table[1]) {
			line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
			cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
			for i := range cells {
				cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// TestDifferencesAreTested: every difference from What's Up Docker names tests that exist.
func TestDifferencesAreTested(t *testing.T) {
	named := regexp.MustCompile(`\[(Test\w+)\]\(([^)]+)\)`)
	rows := tableRows(t, "wud.md")
	if len(rows) < 50 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		tests := named.FindAllStringSubmatch(row[len(row)-1], -1)
		if len(row) != 4 || len(tests) == 0 {
			t.Errorf("%q names no test", row)
		}
		for _, m := range tests {
			if !hasTest(t, filepath.Join(migration, m[2]), m[1]) {
				t.Errorf("%q: there is no %s in %s", row[0], m[1], m[2])
			}
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T) {\n") {
			return true
		}
	}
	return false
}

// TestMigrationOfForeignNames: what the pages say becomes of other tools' labels and
// variables is what becomes of them.
func TestMigrationOfForeignNames(t *testing.T) {
	// A variable without the prefix of its tool is the tool's only where the tool is.
	for page, context := range map[string]string{
		"drydock.md": "DD_WATCHER_OTHER_MATURITY_MODE=x", "watchtower.md": "WATCHTOWER_CLEANUP=true",
		"diun.md": "DIUN_DB_PATH=x",
	} {
		rows := tableRows(t, page)
		if len(rows) < 25 {
			t.Errorf("%s: %d rows", page, len(rows))
		}
		for _, row := range rows {
			from, want := strings.Trim(row[0], "`"), strings.Trim(row[1], "`")
			name, value, given := strings.Cut(from, "=")
			if !given || len(row) != 3 {
				t.Errorf("%s: %q", page, row)
				continue
			}
			got := "—"
			if translated, is := label.Translate(name, value); is {
				if translated.Name != "" {
					got = label.Prefix + translated.Name + "=" + translated.Value
				}
			} else if environ, findings := newRewriter().Environ([]string{from, context}); len(findings) == 0 ||
				findings[0].Name != name {
				got = "nobody's"
			} else if findings[0].To != "" {
				got = environ[0]
			}
			if got != want {
				t.Errorf("%s: %s becomes %s, not %s", page, from, got, want)
			}
		}
	}
}
