// Command watcher-list is a Dogwatch plugin with one type of watcher, "list",
// which reads images from a list: a file or an address, in JSON or as lines of text.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Watchers: []watcher.Type{listType()}})
}

func listType() watcher.Type {
	return watcher.Define("list", "Read images from a file or an address, as JSON or lines of text", newList,
		watcher.AttributesLabels())
}

// options are the schema that the host documents and checks.
type options struct {
	File     string   `option:"file" help:"Absolute path of the list; either this or url" example:"/config/images.txt"`
	URL      *url.URL `option:"url" help:"Address of the list; either this or file"`
	Token    string   `option:"token,secret" help:"Token that is sent to url as Authorization: Bearer; none is sent without it"`
	Items    string   `option:"items" help:"Where the array is in a document of JSON, keys with dots between them: data.services; without it the document is the array"`
	Image    string   `option:"image" default:"image" help:"Where an item has its image reference, keys with dots between them"`
	Version  string   `option:"version" help:"Where an item has the version that runs, if that is not in the image reference"`
	Name     string   `option:"name" default:"name" help:"Where an item has its name; one without it is named after its image"`
	Labels   string   `option:"labels" default:"labels" help:"Where an item has an object with labels, such as dogwatch.tag.include"`
	Platform string   `option:"platform" default:"linux/amd64" help:"Platform that the images run on: os/architecture, or os/architecture/variant"`
	httpclient.Options
}

// list reads its source for each call.
type list struct {
	options
	platform sdk.Platform
	client   *httpclient.Client
}

func newList(env sdk.Env, o options) (*list, error) {
	switch {
	case (o.File == "") == (o.URL == nil):
		return nil, sdk.Invalid("file", "want either file or url, and not both")
	case o.URL != nil && o.URL.Scheme != "http" && o.URL.Scheme != "https":
		return nil, sdk.Invalid("url", "want an address that starts with http:// or https://")
	case o.File != "" && !filepath.IsAbs(o.File):
		return nil, sdk.Invalid("file", "want an absolute path, such as /config/images.txt, got %q", o.File)
	}
	parts := strings.Split(o.Platform, "/")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" {
		return nil, sdk.Invalid("platform", "want os/architecture, such as linux/arm64, got %q", o.Platform)
	}
	parts = append(parts, "")
	client, err := httpclient.New(env, o.Options, o.Token)
	if err != nil {
		return nil, err
	}
	return &list{
		options: o, platform: sdk.Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}, client: client,
	}, nil
}

// List returns a container for each item. One that cannot be read is returned with an error of its own.
func (l *list) List(ctx context.Context) ([]watcher.Container, error) {
	text, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	items, err := l.parse(text)
	if err != nil {
		return nil, err
	}
	taken := map[string]int{}
	all := make([]watcher.Container, len(items))
	for i, item := range items {
		c := l.container(i+1, item)
		if taken[c.Name]++; taken[c.Name] > 1 { // no two containers have the same name
			c.Name = fmt.Sprintf("%s-%d", c.Name, taken[c.Name])
			taken[c.Name]++
		}
		c.ID = "list-" + c.Name
		all[i] = c
	}
	return all, nil
}

// Probe reads the list and says how much of it is usable.
func (l *list) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	all, err := l.List(ctx)
	if err != nil {
		return sdk.ProbeResult{}, err
	}
	found := sdk.ProbeResult{Summary: fmt.Sprintf("%d images", len(all))}
	for _, c := range all {
		if c.Error != "" {
			found.Warnings = append(found.Warnings, c.Name+": "+c.Error)
		}
	}
	return found, nil
}

// Close is called once, after the last call.
func (l *list) Close() error {
	l.client.Close()
	return nil
}

func (l *list) read(ctx context.Context) ([]byte, error) {
	if l.URL == nil {
		return readFile(l.File)
	}
	req, err := httpclient.NewRequest(ctx, http.MethodGet, l.URL.String())
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/plain;q=0.9")
	if l.Token != "" {
		req.Header.Set("Authorization", "Bearer "+l.Token)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := l.client.CheckStatus(resp); err != nil {
		return nil, err
	}
	return httpclient.ReadAll(resp, httpclient.MaxBody)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > httpclient.MaxBody) {
		return nil, sdk.Invalid("file", "%s is no file, or one of more than %d bytes", path, httpclient.MaxBody)
	}
	text, err := os.ReadFile(path)
	kind := sdk.ErrUnavailable // it may be on a drive that is not mounted yet
	if errors.Is(err, fs.ErrPermission) {
		kind = sdk.ErrUnauthorized
	}
	return text, sdk.WithKind(kind, err)
}
