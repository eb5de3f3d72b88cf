// Package file appends one line per update to a file.
package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one file trigger.
type Options struct {
	Path   string `option:"path,required" help:"Absolute path of the file to append to; it is made when it is missing"`
	Format string `option:"format" default:"line" choices:"line,json" help:"Text for people or JSON for programs"`
}

// Type is what a bundle lists.
func Type() trigger.Type {
	return trigger.Define("file", "Append one line per update to a file", New)
}

// File appends to one file. The file is opened for each delivery, so that it
// can be rotated at any time.
type File struct {
	path   string
	format func(time.Time, sdk.Container) ([]byte, error)
	now    func() time.Time
	mu     sync.Mutex // one delivery at a time, so that a batch stays together
}

// New checks what only code can check; the host has already checked the schema.
func New(_ sdk.Env, o Options) (*File, error) {
	if !filepath.IsAbs(o.Path) {
		return nil, sdk.Invalid("path", "want an absolute path, such as /var/log/updates.log, got %q", o.Path)
	}
	dir := filepath.Dir(o.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, sdk.Invalid("path", "there is no folder %s; make it first", dir)
	}
	f := &File{path: o.Path, format: textLine, now: time.Now}
	if o.Format == "json" {
		f.format = jsonLine
	}
	return f, nil
}

// Run appends a line for each container and returns once they are on the disk.
func (f *File) Run(_ context.Context, req trigger.Request) error {
	var lines []byte
	for _, c := range req.Containers {
		line, err := f.format(f.now(), c)
		if err != nil {
			return fmt.Errorf("format the update of %s: %w", c.Name, err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if err := f.append(lines); err != nil {
		return fmt.Errorf("append to %s: %w", f.path, classify(err))
	}
	return nil
}

func (f *File) append(lines []byte) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	// One write keeps the lines whole even when somebody else appends as well.
	if _, err := out.Write(lines); err != nil {
		return err
	}
	return out.Sync()
}

// classify tells the host whether another try may help: a full disk is
// emptied some day, a missing permission has to be granted by somebody.
func classify(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return sdk.WithKind(sdk.ErrUnauthorized, err)
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}

func textLine(now time.Time, c sdk.Container) ([]byte, error) {
	line := fmt.Sprintf("%s %s/%s %s: %s -> %s", sdk.TimeOf(now), c.Watcher, c.Name, c.Image.Name, c.UpdateKind.LocalValue, c.UpdateKind.RemoteValue)
	return []byte(strings.Map(printable, line)), nil
}

// printable keeps one update on one line.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func jsonLine(now time.Time, c sdk.Container) ([]byte, error) {
	return json.Marshal(struct {
		At        sdk.Time      `json:"at"`
		Container sdk.Container `json:"container"`
	}{sdk.TimeOf(now), c})
}
