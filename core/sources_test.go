package core_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the root of the repository, seen from this package.
const root = ".."

// sources returns the files of the repository with one of the extensions, by
// their slash-separated path from its root. Generated code and test data of
// other projects are left out, and what npm installs.
func sources(t *testing.T, extensions ...string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		if entry.IsDir() {
			if name := entry.Name(); name == "axe" || name == "corpus" || name == "node_modules" ||
				len(name) > 2 && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		for _, extension := range extensions {
			if strings.HasSuffix(file, extension) && !strings.HasSuffix(file, ".pb.go") {
				all = append(all, file)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readSource(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
