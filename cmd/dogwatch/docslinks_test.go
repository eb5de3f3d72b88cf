package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
)

// TestLinksToDocsLead: each page of the documentation that the program links to exists, with its heading.
func TestLinksToDocsLead(t *testing.T) {
	root := filepath.Join("..", "..")
	linked := regexp.MustCompile(`config\.Docs\("([^"#]+)(?:#([^"]*))?"\)`)
	links := 0
	err := filepath.WalkDir(filepath.Join(root, "core"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range linked.FindAllStringSubmatch(string(source), -1) {
			links++
			page, err := os.ReadFile(filepath.Join(root, "docs", m[1]))
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			heading := regexp.MustCompile(`(?im)^#+ ` + strings.ReplaceAll(regexp.QuoteMeta(m[2]), "-", " ") + `$`)
			if m[2] != "" && !heading.Match(page) {
				t.Errorf("%s: docs/%s has no heading %q", path, m[1], m[2])
			}
		}
		return nil
	})
	if err != nil || links == 0 {
		t.Fatalf("%d links, %v", links, err)
	}
	const address = "https://github.com/dogwatch/dogwatch/blob/main/docs/"
	if got := config.Docs("updating.md"); got != address+"updating.md" {
		t.Errorf("the address of a page is %s", got)
	}
}
