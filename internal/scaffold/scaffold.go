// Package scaffold writes the folder of a new plugin: a module that builds,
// passes its tests and runs at once, from which its author goes on.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Every plugin has the files of common, those of its language, and those of its kind: all
// plugins of a kind do the same, with the same options, so that their texts are in kinds.
//
//go:embed common kinds go node python
var templates embed.FS

// Plugin is a plugin that does not exist yet.
type Plugin struct {
	// Kind is that of its one type, and Name the name of the type.
	Kind kind.Kind
	Name string
	// Language is one of Languages.
	Language string
	// Dir is the folder to make.
	Dir string
	// SDK is where a module of Go finds the SDK; other languages carry a copy of their helper.
	SDK SDK
}

// nameForm is narrower than that of package kind: a name starts with a letter,
// as words of commands and variables do, and leaves room for the names of sockets.
var nameForm = lazyregexp.New(`^[a-z][a-z0-9]{0,31}$`)

// ParseKind reads a kind as users write it.
func ParseKind(word string) (kind.Kind, error) {
	var known []string
	for _, k := range kind.Kinds() {
		if strings.EqualFold(word, string(k)) {
			return k, nil
		}
		known = append(known, string(k))
	}
	return "",
		fmt.Errorf("unknown kind %q%s (kinds: %s)", word, meant(option.Suggest(word, known)), strings.Join(known, ", "))
}

// Check refuses a plugin that could not be written or used. taken are the types
// of its kind that are built in.
func (p Plugin) Check(taken []string) error {
	if !nameForm().MatchString(p.Name) {
		return fmt.Errorf("%q cannot be the name of a type: it is part of the names of variables, so want up to 32 of a-z and 0-9, a letter first%s", p.Name, meant(plain(p.Name)))
	}
	if slices.Contains(taken, p.Name) {
		return fmt.Errorf("%s type %s is built in, and no other can have its name: choose another, such as my%[2]s",
			p.Kind, p.Name)
	}
	languages := Languages()
	if slices.Contains(languages, p.Language) {
		return nil
	}
	return fmt.Errorf("unknown language %q%s (languages: %s)", p.Language, meant(option.Suggest(p.Language, languages)),
		strings.Join(languages, ", "))
}

// plain is the valid name that is nearest to one that is not; "" when nothing is left of it.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	name = strings.TrimLeft(name, "0123456789")
	return name[:min(len(name), 32)]
}

func meant(suggestion string) string {
	if suggestion == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", suggestion)
}

// ID is the name of the plugin: that of its folder and of its executable.
func (p Plugin) ID() string { return string(p.Kind) + "-" + p.Name }

// Write makes the folder and returns the names of its files. What exists is not
// changed: the folder appears as a whole, or not at all.
func (p Plugin) Write() ([]string, error) {
	if _, err := os.Lstat(p.Dir); err == nil {
		other := filepath.Join(p.Dir, p.ID())
		if filepath.Base(p.Dir) == p.ID() {
			other = p.Dir + "2"
		}
		return nil, fmt.Errorf("%s exists already: choose another folder, such as --dir %s", p.Dir, other)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for %s: %w", p.Dir, err)
	}
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(filepath.Clean(p.Dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the plugin: %w", err)
	}
	unfinished, err := os.MkdirTemp(parent, ".plugin-")
	if err != nil {
		return nil, fmt.Errorf("make the folder of the plugin: %w", err)
	}
	defer os.RemoveAll(unfinished)
	if err := os.Chmod(unfinished, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the plugin: %w", err)
	}
	var names []string
	for _, f := range files {
		name := filepath.Join(unfinished, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, fmt.Errorf("make the folder of the plugin: %w", err)
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(f.name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(name, []byte(f.text), mode); err != nil {
			return nil, fmt.Errorf("write the plugin: %w", err)
		}
		names = append(names, f.name)
	}
	if err := os.Rename(unfinished, p.Dir); err != nil {
		return nil, fmt.Errorf("make the folder of the plugin: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// file is one file of the folder.
type file struct{ name, text string }

// files fills in the templates, and adds what the language needs of the SDK.
func (p Plugin) files() ([]file, error) {
	fill, err := p.replacer()
	if err != nil {
		return nil, fmt.Errorf("read the templates of %s: %w", p.Language, err)
	}
	var files []file
	for root, target := range map[string]string{
		"common": "", p.Language + "/common": "", p.Language + "/" + string(p.Kind): "",
		"kinds/" + string(p.Kind) + "/sample": "sample",
	} {
		if _, err := fs.Stat(templates, root); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := walk(templates, root, func(name, text string) {
			// Go code would be compiled under its own name, and a name with a dot not be embedded.
			name = strings.TrimSuffix(name, ".tmpl")
			if name == "gitignore" {
				name = ".gitignore"
			}
			files = append(files, file{path.Join(target, name), fill.Replace(text)})
		})
		if err != nil {
			return nil, fmt.Errorf("read the templates of %s: %w", p.Language, err)
		}
	}
	more := p.helper
	if p.Language == golang {
		more = func() ([]file, error) { return p.SDK.files(p.ID(), p.Dir) }
	}
	own, err := more()
	return append(files, own...), err
}

// sample is what commands try a component of each kind with, besides its name.
var sample = map[kind.Kind]string{kind.Registry: " images.example.com/team/app:1.25.3"}

// lists is what a bundle calls the types of a kind.
var lists = map[kind.Kind]string{kind.Watcher: "watchers", kind.Registry: "registries", kind.Trigger: "triggers"}

// replacer fills in a template. The texts of a language and of a kind have names of their own in them.
func (p Plugin) replacer() (*strings.Replacer, error) {
	words := []string{
		"@id@", p.ID(), "@kind@", string(p.Kind), "@name@", p.Name, "@NAME@", strings.ToUpper(p.Name),
		"@test@", p.component(), "@sdk@", p.SDK.advice(), "@list@", lists[p.Kind],
	}
	names := strings.NewReplacer(words...)
	for _, folder := range []string{p.Language + "/text", "kinds/" + string(p.Kind) + "/text"} {
		err := walk(templates, folder, func(name, text string) {
			filled := names.Replace(text)
			if name == "about" {
				filled = strings.TrimSpace(filled)
			}
			words = append(words, "@"+name+"@", filled)
		})
		if err != nil {
			return nil, err
		}
	}
	return strings.NewReplacer(words...), nil
}

// Next are the commands with which an author goes on, in the folder. program is the path
// of dogwatch where it is not in the PATH, else "".
func (p Plugin) Next(program string) []string {
	call := "dogwatch"
	next := slices.Clone(commands[p.Language])
	if program != "" { // scripts read the variable, too
		call = `"$DOGWATCH"`
		next = append([]string{"export DOGWATCH=" + inShell(program)}, next...)
	}
	next = append(next, call+" --config dogwatch.yaml plugin test "+p.component())
	if p.Language == golang && p.SDK.Dir == "" {
		next = append([]string{"go mod tidy"}, next...)
	}
	return next
}

// inShell is a path as a shell reads it.
func inShell(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// component is what commands try.
func (p Plugin) component() string {
	return string(p.Kind) + "." + p.Name + ".main" + sample[p.Kind]
}
