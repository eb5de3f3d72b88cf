package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesUseEverydayEnglish keeps headings and labels that users did not understand out of templates and sentences.
// The words on the right are those of a dashboard.
func TestPagesUseEverydayEnglish(t *testing.T) {
	everyday := map[string]string{
		"Needs you": "Needs attention", "need you": "need attention", "needs you first": "needs attention first",
		"Nothing tells you": "No notifications configured", "What became of it": "Result", ">It may<": "Permissions",
		"To know before": "Before you update", ">What is done": "Steps", "What it brings": "Release notes",
		"Why this tag": "Why this version", ">What was sent": "Notifications", ">What happened": "Activity",
		"What stays": "Unchanged", "What registries allow": "Rate limits", "What its hosts allow": "Rate limits",
		"What checks request": "Requests of checks", "What keeps it from": "Blocked by", "What depends on it": "Dependents",
		"What differs from what": "Changed settings", "Settings of the program": "Settings", "The log tells": "Log level",
		"It counts at once": "Applies immediately", "Runs since": "Started", "Up since": "Started", "Known since": "First seen", "How far behind": "Pending updates over time",
		"By how long they wait": "By age", "Held or automatic": "Held and scheduled", "Does not work": "Failed",
		"Why it does not work": "Cause", "Facts</h2>": "Details", "Used last": "Last used",
		"Executables of third parties": "Put third-party plugins into …", "Holds {{": "Provides",
	}
	read := 0
	for _, root := range []string{".", filepath.Join("..", "words")} {
		err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
			if err != nil || path == filepath.Join("settings", "apidocs.html") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if ext := filepath.Ext(path); ext != ".html" && ext != ".go" && ext != ".js" || strings.HasSuffix(path, ".min.js") {
				return nil
			}
			text, err := os.ReadFile(filepath.Join(root, path))
			read++
			for n, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "//") {
					continue
				}
				for odd, better := range everyday {
					if strings.Contains(line, odd) {
						t.Errorf("%s:%d says %q; say %q", filepath.Join(root, path), n+1, odd, better)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 100 {
		t.Errorf("only %d files were read", read)
	}
}
