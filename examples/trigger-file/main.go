// Command trigger-file is a Dogwatch plugin with one type of trigger, "file",
// which appends one line per update to a file.
package main

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
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{fileType()}})
}

func fileType() trigger.Type {
	return trigger.Define("file", "Append one line per update to a file", newFile)
}

// options are the schema that the host documents and checks.
type options struct {
	Path   string `option:"path,required" help:"Absolute path of the file to append to; it is made when it is missing"`
	Format string `option:"format" default:"line" choices:"line,json" help:"Text for people or JSON for programs"`
}

// file opens its file for each delivery, so that it can be rotated at any time.
type file struct {
	options
	mu sync.Mutex // one delivery at a time, so that a batch stays together
}

// newFile checks what the schema cannot.
func newFile(_ sdk.Env, o options) (*file, error) {
	if !filepath.IsAbs(o.Path) {
		return nil, sdk.Invalid("path", "want an absolute path, such as /var/log/updates.log, got %q", o.Path)
	}
	dir := filepath.Dir(o.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, sdk.Invalid("path", "there is no folder %s; make it first", dir)
	}
	return &file{options: o}, nil
}

// Run appends a line for each container and returns once they are on the disk.
func (f *file) Run(_ context.Context, req trigger.Request) error {
	var lines strings.Builder
	for _, c := range req.Containers {
		fmt.Fprintln(&lines, f.line(sdk.TimeOf(time.Now()), c))
	}
	err := f.append(lines.String())
	kind := sdk.ErrUnavailable // worth another try: a full disk is emptied some day
	if errors.Is(err, fs.ErrPermission) {
		kind = sdk.ErrUnauthorized
	}
	return sdk.WithKind(kind, err)
}

func (f *file) append(lines string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	out, err := os.OpenFile(f.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = out.WriteString(lines)
	return errors.Join(err, out.Sync(), out.Close())
}

func (f *file) line(now sdk.Time, c sdk.Container) string {
	if f.Format == "json" {
		// texts, booleans and times always have a JSON form
		text, _ := json.Marshal(map[string]any{"at": now, "container": c})
		return string(text)
	}
	text := fmt.Sprintf("%s %s/%s %s: %s -> %s", now, c.Watcher, c.Name, c.Image.Name, c.UpdateKind.LocalValue,
		c.UpdateKind.RemoteValue)
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' ' // an update stays on its line
		}
		return r
	}, text)
}
