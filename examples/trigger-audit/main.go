// Command trigger-audit is a Dogwatch plugin with one type of trigger, "audit",
// which keeps an append-only record of what was found and done, as lines of JSON.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	if len(os.Args) > 2 && os.Args[1] == "verify" {
		lines, err := verify(os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%d lines: none before the last was changed or is missing\n", lines)
		return
	}
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{auditType()}})
}

func auditType() trigger.Type {
	return trigger.Define("audit", "Keep a record of updates and events as lines of JSON", newAudit)
}

// options are the schema that the host documents and checks.
type options struct {
	Path    string `option:"path,required" help:"Absolute path of the record; its folder must exist" example:"/var/log/dogwatch/audit.jsonl"`
	MaxSize int    `option:"maxsize" default:"10" min:"1" max:"4096" help:"Megabytes after which a new file is begun; the old one is called PATH.1, the one before PATH.2"`
	Keep    int    `option:"keep" default:"9" min:"0" max:"999" help:"How many old files are kept; 0 keeps all of them"`
}

// audit writes one delivery at a time.
type audit struct {
	options
	limit int64
	turn  chan struct{}
}

func newAudit(_ sdk.Env, o options) (*audit, error) {
	if !filepath.IsAbs(o.Path) {
		return nil, sdk.Invalid("path", "want an absolute path, such as /var/log/dogwatch/audit.jsonl, got %q", o.Path)
	}
	dir := filepath.Dir(o.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, sdk.Invalid("path", "there is no folder %s; make it first", dir)
	}
	return &audit{options: o, limit: int64(o.MaxSize) << 20, turn: make(chan struct{}, 1)}, nil
}

// Run adds what a delivery is about, and returns once it is on the disk. What a
// try before this one has written is not written again.
func (a *audit) Run(ctx context.Context, req trigger.Request) error {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := a.add(entriesOf(sdk.TimeOf(time.Now()), req))
	kind := sdk.ErrUnavailable // worth another try: a full disk is emptied some day
	if errors.Is(err, fs.ErrPermission) {
		kind = sdk.ErrUnauthorized
	}
	return sdk.WithKind(kind, err)
}

// Probe looks whether the record can be read and written, and continues what is in it.
func (a *audit) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	if err := ctx.Err(); err != nil {
		return sdk.ProbeResult{}, err
	}
	r, err := open(a.Path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return sdk.ProbeResult{Summary: "the record has not begun"}, nil
	}
	if err != nil {
		return sdk.ProbeResult{}, sdk.WithKind(sdk.ErrUnavailable, err)
	}
	defer r.Close()
	return sdk.ProbeResult{Summary: fmt.Sprintf("the record has %d bytes", r.size)}, nil
}

// add appends entries that are not there yet, in one file.
func (a *audit) add(entries []entry) error {
	r, err := a.open()
	if err != nil {
		return err
	}
	defer func() { r.Close() }()
	if r.size >= a.limit {
		if err := errors.Join(r.Close(), rotate(a.Path, a.Keep)); err != nil {
			return err
		}
		if r, err = a.open(); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if r.has(e) {
			continue
		}
		if err := r.append(e); err != nil {
			return err
		}
	}
	return r.Sync()
}

// open opens the file to append to. A new one continues the one before it.
func (a *audit) open() (*record, error) {
	r, err := open(a.Path, true)
	if err != nil || r.size > 0 {
		return r, err
	}
	if old, err := open(a.Path+".1", false); err == nil {
		r.tail, r.last = old.tail, old.last
		old.Close()
	}
	return r, nil
}

// rotate makes room for a new file: PATH becomes PATH.1, after that became PATH.2.
func rotate(path string, keep int) error {
	count := 0
	for count < 1000 {
		if _, err := os.Lstat(fmt.Sprintf("%s.%d", path, count+1)); err != nil {
			break
		}
		count++
	}
	for ; count > 0; count-- {
		old := fmt.Sprintf("%s.%d", path, count)
		if keep > 0 && count >= keep {
			if err := os.Remove(old); err != nil {
				return err
			}
		} else if err := os.Rename(old, fmt.Sprintf("%s.%d", path, count+1)); err != nil {
			return err
		}
	}
	return os.Rename(path, path+".1")
}
