package web

import (
	"embed"
	"io/fs"
)

//go:embed templates
var templateFiles embed.FS

// templates returns the templates by the names of their pages.
func templates() fs.FS {
	files, err := fs.Sub(templateFiles, "templates")
	if err != nil {
		panic(err) // the path is valid
	}
	return files
}
