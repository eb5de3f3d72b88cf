// Command generate makes what others read of the references of the gallery: its page of documentation and the index
// that is built into programs. Its argument is the folder of the repository. With a version and a file it makes the
// index of a release instead.
//
//	go run ./internal/gallery/generate . 1.2.3 gallery.json
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dogwatch/dogwatch/internal/gallery"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 && len(args) != 3 {
		return errors.New("want the folder of the repository, and for a release its version and a file")
	}
	docs := filepath.Join(args[0], "docs", "plugins")
	plugins, err := gallery.Read(filepath.Join(docs, "gallery.yaml"), args[0])
	if err != nil {
		return err
	}
	if len(args) == 3 {
		return writeIndex(args[2], gallery.NewIndex(args[1], plugins))
	}
	if err := os.WriteFile(filepath.Join(docs, "gallery.md"), []byte(gallery.Page(plugins)), 0o644); err != nil {
		return err
	}
	return writeIndex(filepath.Join(args[0], "internal", "gallery", "index.json"), gallery.NewIndex("", plugins))
}

func writeIndex(file string, x gallery.Index) error {
	text, err := x.Text()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
