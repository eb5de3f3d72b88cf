package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// forge is a repository of a service, as far as proposals need it.
type forge interface {
	// defaultBranch is what pull requests are for unless users say otherwise.
	defaultBranch(ctx context.Context) (string, error)
	// findBranch is an sdk.ErrNotFound for a branch that does not exist.
	findBranch(ctx context.Context, name string) error
	// fork makes a branch of another.
	fork(ctx context.Context, branch, base string) error
	// read returns a file as it is on a branch.
	read(ctx context.Context, name, branch string) (file, error)
	// write changes a file of a branch in a commit, unless it is no longer what was read.
	write(ctx context.Context, name, branch string, old file, text, message string) error
	// openPull and openIssue make a proposal, unless the same one is open.
	openPull(ctx context.Context, branch, base string, p proposal) error
	openIssue(ctx context.Context, p proposal) error
}

// file is a text, and what identifies it when it is changed: a hash of its content, or its last commit.
type file struct{ text, version string }

// proposal is the text, in Markdown, of a pull request or an issue.
type proposal struct{ title, body string }

// api is the address of a repository in the API of a service.
type api struct {
	client *httpclient.Client
	at     string
	header http.Header // has the token
}

// call makes a request below the repository.
func (a api) call(ctx context.Context, method, below string, in, out any) error {
	return a.client.JSON(ctx, method, a.at+below, a.header, in, out)
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// decode reads the content of a file, which GitHub sends in lines.
func decode(content, version string) (file, error) {
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(content, "\n", ""))
	return file{string(text), version}, err
}

func (g *gitea) file(ctx context.Context, name, branch string) (file, error) {
	f, err := g.forge.read(ctx, name, branch)
	if err != nil {
		return file{}, fmt.Errorf("file %s on branch %s: %w", name, branch, err)
	}
	return f, nil
}

// pull makes a branch with the edited files, and a pull request of it, unless they exist.
func (g *gitea) pull(ctx context.Context, c change, base string, edited []string) error {
	branch := c.branch()
	err := g.forge.findBranch(ctx, branch)
	if errors.Is(err, sdk.ErrNotFound) {
		err = g.forge.fork(ctx, branch, base)
	}
	if err != nil {
		return err
	}
	for _, name := range edited {
		f, err := g.file(ctx, name, branch)
		if err != nil {
			return err
		}
		text, _ := c.edit(f.text)
		if text == f.text {
			continue // an earlier try came this far
		}
		if err := g.forge.write(ctx, name, branch, f, text, c.title()); err != nil {
			return fmt.Errorf("change file %s on branch %s: %w", name, branch, err)
		}
	}
	return g.forge.openPull(ctx, branch, base, c.proposal())
}
