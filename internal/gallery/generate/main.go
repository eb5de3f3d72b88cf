// Command generate makes docs/plugins/gallery.md of the references beside it. Its
// argument is the folder of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dogwatch/dogwatch/internal/gallery"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	docs := filepath.Join(root, "docs", "plugins")
	plugins, err := gallery.Read(filepath.Join(docs, "gallery.yaml"), root)
	if err == nil {
		err = os.WriteFile(filepath.Join(docs, "gallery.md"), []byte(gallery.Page(plugins)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
