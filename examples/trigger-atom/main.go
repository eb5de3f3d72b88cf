// Command trigger-atom is a Dogwatch plugin with one type of trigger, "atom",
// which keeps a feed of updates and events that feed readers can subscribe to.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
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
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{atomType()}})
}

func atomType() trigger.Type {
	return trigger.Define("atom", "Keep an Atom feed of updates and events", newAtom)
}

// options are the schema that the host documents and checks.
type options struct {
	Path  string   `option:"path,required" help:"Absolute path of the feed, in a folder of its own that a web server shows" example:"/var/www/dogwatch/updates.atom"`
	URL   *url.URL `option:"url" help:"Address under which the web server shows the feed" example:"https://www.example.org/dogwatch/updates.atom"`
	Title string   `option:"title" default:"Updates of containers" help:"What readers call the feed"`
	Keep  int      `option:"keep" default:"100" min:"1" max:"1000" help:"How many entries the feed has at most"`
}

// atom writes one delivery at a time.
type atom struct {
	options
	now  func() time.Time
	turn chan struct{}
}

func newAtom(_ sdk.Env, o options) (*atom, error) {
	if !filepath.IsAbs(o.Path) {
		return nil, sdk.Invalid("path", "want an absolute path, such as /var/www/dogwatch/updates.atom, got %q", o.Path)
	}
	dir := filepath.Dir(o.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, sdk.Invalid("path", "there is no folder %s; make it first", dir)
	}
	if o.URL != nil && !webAddress(o.URL.String()) {
		return nil, sdk.Invalid("url", "want an address that starts with http:// or https://")
	}
	return &atom{options: o, now: time.Now, turn: make(chan struct{}, 1)}, nil
}

// Run puts what a delivery is about at the beginning of the feed, and returns once that is on the disk. An entry that
// is there already takes its new place.
func (a *atom) Run(ctx context.Context, req trigger.Request) error {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := a.add(entriesOf(a.now(), req))
	kind := sdk.ErrUnavailable // worth another try: a full disk is emptied some day
	if errors.Is(err, fs.ErrPermission) {
		kind = sdk.ErrUnauthorized
	}
	return sdk.WithKind(kind, err)
}

// Probe looks whether the feed can be read.
func (a *atom) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	if err := ctx.Err(); err != nil {
		return sdk.ProbeResult{}, err
	}
	f, err := read(a.Path)
	if err != nil {
		return sdk.ProbeResult{}, sdk.WithKind(sdk.ErrUnavailable, err)
	}
	return sdk.ProbeResult{Summary: fmt.Sprintf("the feed has %d entries", len(f.Entries))}, nil
}
