package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

// golang is the language that has every kind, and a module of its own.
const golang = "go"

// example is a plugin of the checkout from which those of a language start.
type example struct {
	folder string
	// name is what its type is called, other the pairs of texts to replace besides.
	name  string
	other []string
	// helper are the files and folders of the SDK that it needs; they keep their place.
	helper []string
	// need is what has to be installed, next how to build it.
	need string
	next []string
}

// examples are the languages besides Go. Their plugins are triggers.
var examples = map[string]example{
	"node": {
		folder: "examples/trigger-node", name: "lamp", other: []string{"../../sdk", "./sdk"},
		helper: []string{"sdk/node", "sdk/proto/v1"},
		need:   "Node 18 or newer", next: []string{"npm ci", "npm run build"},
	},
	"python": {
		folder: "examples/trigger-python", name: "lantern", other: []string{"../../sdk", "sdk"},
		helper: []string{"sdk/python", "sdk/proto/v1"},
		need:   "Python 3.9 or newer with grpcio and protobuf, and protoc (Debian: python3-grpcio protobuf-compiler)", next: []string{"./build.sh"},
	},
}

// Languages returns the languages in which plugins of a kind can be started.
func Languages(k kind.Kind) []string {
	if k == kind.Trigger {
		return []string{golang, "node", "python"}
	}
	return []string{golang}
}

// files are those of the example under the name of the plugin, and those of the SDK that it
// needs: a plugin in another language carries its copy.
func (e example) files(p Plugin) ([]file, error) {
	if p.SDK.Dir == "" {
		return nil, fmt.Errorf("a plugin in %s takes its helper from a checkout of Dogwatch: say where one is with --sdk (git clone https://%s makes one)", p.Language, sdkModule)
	}
	names := strings.NewReplacer(append([]string{path.Base(e.folder), p.ID(), e.name, p.Name}, e.other...)...)
	var files []file
	id := strings.NewReplacer(path.Base(e.folder), p.ID())
	take := func(source, target string, own bool) error {
		return fs.WalkDir(os.DirFS(p.SDK.Dir), source, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "plugins" || d.Name() == "__pycache__" || d.Name() == "testdata"):
				return fs.SkipDir
			case d.IsDir(), d.Name() == "README.md", strings.HasSuffix(name, ".go"):
				return nil
			}
			text, err := os.ReadFile(filepath.Join(p.SDK.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			change := strings.NewReplacer()
			switch {
			case own && strings.HasSuffix(name, ".json"): // checksums are not to change
				change = id
			case own:
				change = names
			}
			files = append(files, file{path.Join(target, strings.TrimPrefix(name, source+"/")), change.Replace(string(text))})
			return nil
		})
	}
	err := take(e.folder, "", true)
	for _, folder := range e.helper {
		err = errors.Join(err, take(folder, folder, false))
	}
	if err != nil {
		return nil, fmt.Errorf("read the example of a plugin in %s, which the checkout in --sdk must have: %w", p.Language, err)
	}
	url := "      url: http://localhost:8080/hook\n"
	return append(files,
		file{"dogwatch.yaml", fmt.Sprintf("# Tries the plugin: see README.md.\nstore:\n  path: store\nplugins:\n  dir: plugins\ntrigger:\n  %s:\n    main:\n%s", p.Name, url)},
		file{"README.md", e.readme(p, url)}), nil
}

func (e example) readme(p Plugin, url string) string {
	variable := "DOGWATCH_TRIGGER_" + strings.ToUpper(p.Name) + "_MAIN_"
	return fmt.Sprintf(`# %[1]s

A plugin for Dogwatch with one type of trigger, %[2]s, which posts each update as JSON. It needs %[3]s.
The folder sdk is a copy of the helper of Dogwatch: an author changes the main file alone.

`+"```sh"+`
%[4]s
dogwatch plugin verify plugins/%[1]s   # checks that it is a plugin as it should be
dogwatch --config dogwatch.yaml plugin test trigger.%[2]s.main   # wants a server at the url
`+"```"+`

## Configure

`+"```yaml"+`
trigger:
  %[2]s:
    main:
%[5]s`+"```"+`

or, in the environment:

`+"```sh"+`
%[6]sURL=http://localhost:8080/hook
%[6]sTOKEN__FILE=/run/secrets/token   # the option token, read from a file
`+"```"+`

## Install and release

The one file plugins/%[1]s is the release, with its checksum: sha256sum plugins/%[1]s. Put it into the folder that
plugins.dir names; Dogwatch notices it within two seconds. File and folder must belong to root or to the user of Dogwatch, and no other user
may write to them. Replace a file that is in use with mv, not with cp.

Choose a license and put its text into LICENSE: without one, others may not use it.
`, p.ID(), p.Name, e.need, strings.Join(e.next, "\n"), url, variable)
}
