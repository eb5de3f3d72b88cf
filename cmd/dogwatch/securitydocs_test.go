package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatOutsidersWriteIsTested: every row of that table of docs/security-in-depth.md names tests that exist.
func TestWhatOutsidersWriteIsTested(t *testing.T) {
	named := regexp.MustCompile(`\[(Test\w+)\]\(https://github.com/dogwatch/dogwatch/tree/main/([^)]+)\)`)
	rows := 0
	for _, row := range tableRows(t, "../security-in-depth.md") {
		tests := named.FindAllStringSubmatch(strings.Join(row, "|"), -1)
		if len(row) != 4 {
			continue
		}
		rows++
		if len(tests) == 0 {
			t.Errorf("%q names no test", row)
		}
		for _, m := range tests {
			if !hasTest(t, filepath.Join("../..", m[2]), m[1]) {
				t.Errorf("%q: there is no %s in %s", row[0], m[1], m[2])
			}
		}
	}
	if rows < 6 {
		t.Errorf("%d rows", rows)
	}
}
