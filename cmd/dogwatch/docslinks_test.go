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

// TestImageHasOneName: the image that examples and pages run is the one that the program names, which image.sh makes.
func TestImageHasOneName(t *testing.T) {
	named := 0
	check := func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, tag, _ := strings.Cut(config.Image, "/dogwatch/")
		n := strings.Count(string(text), config.Image)
		if named += n; strings.Count(string(text), tag) != n {
			t.Errorf("%s has a %s that is not %s", path, tag, config.Image)
		}
		return nil
	}
	for _, place := range []string{"README.md", "docs", "examples", "packaging", "core", "cmd"} {
		if err := filepath.WalkDir(filepath.Join("..", "..", place), check); err != nil {
			t.Fatal(err)
		}
	}
	if named < 15 {
		t.Errorf("only %d places name it", named)
	}
}

// TestPagesAreTwoClicksAway: a reader of the README gets to each page of the documentation by two links at most.
func TestPagesAreTwoClicksAway(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s:]+\.md)(?:#[^)]*)?\)`)
	reached, pages := map[string]bool{}, []string{filepath.Join("..", "..", "README.md")}
	for range 2 {
		var next []string
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				if to := filepath.Join(filepath.Dir(page), m[1]); !reached[to] {
					reached[to] = true
					next = append(next, to)
				}
			}
		}
		pages = next
	}
	err := filepath.WalkDir(filepath.Join("..", "..", "docs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" && !reached[path] {
			t.Errorf("%s is farther away", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
