package web

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/dogwatch/dogwatch/core/component"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/service"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestPastedFileIsRead has what a page offers to paste read back as a configuration.
func TestPastedFileIsRead(t *testing.T) {
	texts := []string{
		"plain", "yes", "null", "~", "1.0", "0x10", "a: b", "- a", "# no comment", "a #b", "${container.name} \"is\" new", "it's", "two\nlines\n", "{}", "[a", "*x", "&x",
		"%x", "@x", "`x`", " lead", "trail ", "\\n", "a,b", "ünï", "!tag", "|", ">", "0 * * * *",
	}
	for _, text := range texts {
		c := configured(kind.Trigger, "mock", "main", component.Ready)
		c.Settings = []service.Setting{{Name: "simplebody", Value: text, Source: "env X"}}
		yaml, _ := paste(c)
		file := fstest.MapFS{"dogwatch.yaml": {Data: []byte(yaml)}}
		open := func(name string) (fs.File, error) { return file.Open(filepath.Base(name)) }
		read, err := config.Load(config.Input{File: "dogwatch.yaml", Environ: []string{"HOME=/h"}, Open: open})
		if err != nil || len(read.Components) != 1 {
			t.Errorf("%q: %v, %v, from\n%s", text, err, read.Problems, yaml)
			continue
		}
		if got := read.Components[0].Options["simplebody"].V; got != text {
			t.Errorf("%q is read as %q, from\n%s", text, got, yaml)
		}
	}
}
