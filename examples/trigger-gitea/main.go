// Command trigger-gitea is a Dogwatch plugin with one type of trigger, "gitea",
// which proposes updates where the compose files are: a pull request in Gitea,
// Forgejo or GitHub, a merge request in GitLab, or an issue.
package main

import (
	"context"
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{giteaType()}})
}

func giteaType() trigger.Type {
	return trigger.Define("gitea", "Propose updates as pull requests or issues in Gitea, Forgejo, GitHub or GitLab",
		newGitea, kind.Proposes())
}

// options are the schema that the host documents and checks.
type options struct {
	Format     string   `option:"format" default:"gitea" choices:"gitea,github,gitlab" help:"Whose API it is; Forgejo has that of Gitea"`
	URL        *url.URL `option:"url" help:"Address of the service, such as https://codeberg.org; https://api.github.com or https://gitlab.com unless it is set" example:"https://codeberg.org"`
	Repository string   `option:"repository,required" help:"Repository with the files, as owner/name; in GitLab the path of the project, such as group/subgroup/name" example:"ana/homelab"`
	Token      string   `option:"token,required,secret" help:"Access token that may write the repository's contents, pull requests and issues; in GitLab one with the scope api" example:"an-access-token"`
	Files      []string `option:"files" help:"Paths of compose files, manifests, kustomizations, values of Helm or quadlets in the repository, for containers that name no file of their own (dogwatch.source.file)" example:"compose.yaml"`
	Branch     string   `option:"branch" help:"Branch that pull requests are for; the repository's own default unless it is set"`
	Issues     bool     `option:"issues" default:"true" help:"Open an issue about an update that is in none of its files"`
	httpclient.Options
}

// gitea carries out one delivery at a time: what is there is looked at before more is made.
type gitea struct {
	options
	env    sdk.Env
	client *httpclient.Client
	forge  forge
	turn   chan struct{}
}

var (
	repositoryForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	projectForm    = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$`) // groups of GitLab are nested
)

// addresses are those of services that are one for all users.
var addresses = map[string]string{"github": "api.github.com", "gitlab": "gitlab.com"}

func newGitea(env sdk.Env, o options) (*gitea, error) {
	if host := addresses[o.Format]; o.URL == nil && host != "" {
		o.URL = &url.URL{Scheme: "https", Host: host}
	}
	switch {
	case o.URL == nil:
		return nil, sdk.Invalid("url", "want the address of the service, such as https://codeberg.org")
	case o.URL.Scheme != "http" && o.URL.Scheme != "https":
		return nil, sdk.Invalid("url", "want an address that starts with http:// or https://")
	case o.Format != "gitlab" && !repositoryForm.MatchString(o.Repository):
		return nil, sdk.Invalid("repository", "want owner/name, got %q", o.Repository)
	case !projectForm.MatchString(o.Repository) || path.Clean("/"+o.Repository) != "/"+o.Repository:
		return nil, sdk.Invalid("repository", "want the path of the project, such as group/name, got %q", o.Repository)
	}
	for _, file := range o.Files {
		if !isPath(file) {
			return nil, sdk.Invalid("files", "want paths from the top of the repository, such as web/compose.yaml, got %q", file)
		}
	}
	if o.Format == "gitea" {
		o.URL = o.URL.JoinPath("api/v1")
	}
	client, err := httpclient.New(env, o.Options, o.Token)
	if err != nil {
		return nil, err
	}
	return &gitea{options: o, env: env, client: client, forge: newForge(client, o), turn: make(chan struct{}, 1)}, nil
}

// isPath reports whether a name is that of a file from the top of the repository.
func isPath(name string) bool { return name != "" && path.Clean("/"+name) == "/"+name }

func newForge(client *httpclient.Client, o options) forge {
	if o.Format == "gitlab" {
		return newGitLab(api{client: client}, o)
	}
	return newGitHub(api{client: client}, o)
}

// Run proposes each update once: after a failure it goes on with what is there.
// A sample message makes nothing; it shows whether repository and files can be read.
func (g *gitea) Run(ctx context.Context, req trigger.Request) error {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	changes := g.changesOf(req.Containers)
	if len(changes) == 0 {
		return nil // an event, which changes no file
	}
	base := g.Branch
	if base == "" {
		var err error
		if base, err = g.forge.defaultBranch(ctx); err != nil {
			return err
		}
	}
	files := map[string]string{}
	names := slices.Clone(g.Files)
	for _, c := range changes {
		names = append(names, c.files...)
	}
	for i, name := range names {
		if slices.Index(names, name) < i {
			continue
		}
		f, err := g.file(ctx, name, base)
		if errors.Is(err, sdk.ErrNotFound) && !slices.Contains(g.Files, name) { // a label of one container is wrong
			g.env.Log.Warn("a label names a file that is not there", "label", fileLabel, "file", name, "branch", base)
		} else if err != nil {
			return err
		}
		files[name] = f.text
	}
	for _, c := range changes {
		if err := g.propose(ctx, c, base, files, req.Test); err != nil {
			return err
		}
	}
	return nil
}

// propose opens a pull request for the files that an update changes, or an issue.
func (g *gitea) propose(ctx context.Context, c change, base string, files map[string]string, test bool) error {
	var edited []string
	current := false
	for _, name := range c.files {
		text, done := c.edit(files[name])
		current = current || done
		if text != files[name] {
			edited = append(edited, name)
		}
	}
	switch {
	case test:
		g.env.Log.Info("would propose", "update", c.title(), "files", strings.Join(edited, ", "))
		return nil
	case len(edited) > 0:
		return g.pull(ctx, c, base, edited)
	case current:
		g.env.Log.Info("the files have it already", "update", c.title())
		return nil
	case g.Issues:
		return g.forge.openIssue(ctx, c.proposal())
	}
	g.env.Log.Warn("in none of the files", "update", c.title())
	return nil
}

// Close is called once, after the last call.
func (g *gitea) Close() error {
	g.client.Close()
	return nil
}
