package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// sdkModule is the module that holds the SDK.
const sdkModule = "github.com/dogwatch/dogwatch"

// SDK is where a module of Go finds the SDK: in a folder, or published.
type SDK struct {
	// Dir is a checkout of Dogwatch; "" when the SDK is published.
	Dir string
	// Version is that of the published module.
	Version string
}

// releaseForm is a version that the Go command finds by its tag.
var releaseForm = lazyregexp.New(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// FindSDK returns the SDK in dir. Without a folder it is what this program was
// built from: its checkout while that is there, or its release.
func FindSDK(dir string) (SDK, error) {
	if dir != "" {
		return sdkIn(dir)
	}
	if _, source, _, ok := runtime.Caller(0); ok && filepath.IsAbs(source) {
		if found, err := sdkIn(filepath.Join(filepath.Dir(source), "..", "..")); err == nil {
			return found, nil
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == sdkModule &&
		releaseForm().MatchString(info.Main.Version) {
		return SDK{Version: info.Main.Version}, nil
	}
	return SDK{},
		errors.New("this program is not a published release, and the checkout that it was built from is not here: say where one is with --sdk (git clone https://" + sdkModule + " makes one), or choose --lang " + strings.Join(Languages()[1:], " or ") + ", which need no checkout")
}

func sdkIn(dir string) (SDK, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return SDK{}, fmt.Errorf("find the SDK: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(absolute, "go.mod"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return SDK{}, fmt.Errorf("find the SDK: %w", err)
	}
	if first, _, _ := strings.Cut(string(text), "\n"); strings.TrimSpace(first) != "module "+sdkModule {
		return SDK{}, fmt.Errorf("%s is no checkout of Dogwatch: want the folder with the go.mod of %s", dir, sdkModule)
	}
	return SDK{Dir: absolute}, nil
}

// reference is the plugin of the checkout whose requirements are those of every plugin.
const reference = "examples/trigger-file"

// files returns go.mod and, for an SDK in a folder, go.sum. They are those of a
// plugin of the same checkout: the go command needs no network and changes nothing.
// dir is the folder of the plugin.
func (s SDK) files(name, dir string) ([]file, error) {
	if s.Dir == "" {
		return []file{{"go.mod", fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s %s\n", name, sdkModule, s.Version)}}, nil
	}
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(reference), name))
		if err != nil {
			return "", fmt.Errorf("read the requirements of plugins: %w", err)
		}
		return string(text), nil
	}
	module, err := read("go.mod")
	if err != nil {
		return nil, err
	}
	sums, err := read("go.sum")
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(module), "\n") {
		switch {
		case strings.HasPrefix(line, "module "):
			line = "module " + name
		case strings.HasPrefix(line, "replace "):
			continue
		}
		kept = append(kept, line)
	}
	text := strings.TrimSpace(strings.Join(kept, "\n")) + `

// The SDK is taken from this folder instead of from where modules are published.
// To use a published one, remove the next line and run:
//
//	go get ` + sdkModule + `@latest && go mod tidy
replace ` + sdkModule + " => " + quoted(s.seenFrom(dir)) + "\n"
	return []file{{"go.mod", text}, {"go.sum", sums}}, nil
}

// seenFrom returns the path of the SDK for a plugin in dir: a relative one within the checkout, which
// may then be anywhere.
func (s SDK) seenFrom(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return s.Dir
	}
	up, err := filepath.Rel(dir, s.Dir)
	up = filepath.ToSlash(up)
	if err != nil || strings.ReplaceAll(up+"/", "../", "") != "" {
		return s.Dir
	}
	return up
}

// quoted writes a path as go.mod wants it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"'`,()[]{}") || strings.Contains(path, "//") {
		return fmt.Sprintf("%q", path)
	}
	return path
}

// advice is what the README says of the SDK before a release.
func (s SDK) advice() string {
	if s.Dir == "" {
		return "- `go get -u " + sdkModule + " && go mod tidy` takes the newest SDK."
	}
	return "- `go.mod` takes the SDK from a folder of this machine, by a `replace` line that says how to get rid of it: others can\n" +
		"  build the plugin once that line is gone, or when they have the same folder. A binary needs neither."
}
