package scaffold

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/node"
	"github.com/dogwatch/dogwatch/sdk/proto"
	"github.com/dogwatch/dogwatch/sdk/python"
)

// golang is the language whose plugins are modules, and take the SDK from where modules are.
const golang = "go"

// helpers are what plugins in the other languages carry a copy of, by folder.
var helpers = map[string]map[string]embed.FS{
	"node":   {"sdk/node": node.Files, "sdk/proto": proto.Files},
	"python": {"sdk/python": python.Files},
}

// commands are what an author goes on with, before trying the plugin.
var commands = map[string][]string{
	golang:   {"go test ./...", "./build.sh", "go run ./sample &"},
	"node":   {"./build.sh", "npm test", "node sample/server.js &"},
	"python": {"./build.sh", "./test.sh", "python3 sample/server.py &"},
}

// Languages returns the languages in which plugins can be started, the usual one first.
func Languages() []string {
	return append([]string{golang}, slices.Sorted(maps.Keys(helpers))...)
}

// synonyms are other names of languages.
var synonyms = map[string]string{
	"golang": golang, "javascript": "node", "js": "node", "nodejs": "node", "py": "python", "python3": "python",
}

// ParseLanguage reads a language as users write it, in any letter case. What is none is returned as
// it is, for Check to refuse.
func ParseLanguage(word string) string {
	language := strings.ToLower(word)
	if other, known := synonyms[language]; known {
		return other
	}
	if slices.Contains(Languages(), language) {
		return language
	}
	return word
}

// helper returns the files that a plugin of the language carries; none for Go.
func (p Plugin) helper() ([]file, error) {
	var files []file
	for _, target := range slices.Sorted(maps.Keys(helpers[p.Language])) {
		source := helpers[p.Language][target]
		err := walk(source, ".", func(name, text string) { files = append(files, file{path.Join(target, name), text}) })
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// walk calls use with each file below a folder of embedded files, by its name there.
func walk(source embed.FS, root string, use func(name, text string)) error {
	return fs.WalkDir(source, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := source.ReadFile(name)
		if err == nil {
			use(strings.TrimPrefix(name, root+"/"), string(text))
		}
		return err
	})
}
