package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// call makes a request below the repository.
func (g *gitea) call(ctx context.Context, method, below string, in, out any) error {
	header := http.Header{"Authorization": {"token " + g.Token}}
	return g.client.JSON(ctx, method, g.URL.JoinPath("repos", g.Repository).String()+below, header, in, out)
}

// file is a file as it is on a branch.
type file struct{ text, sha string }

func contents(name string) string {
	return "/contents/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

func (g *gitea) file(ctx context.Context, name, branch string) (file, error) {
	var f struct {
		Content string `json:"content"`
		SHA     string `json:"sha"`
	}
	if err := g.call(ctx, http.MethodGet, contents(name)+"?ref="+url.QueryEscape(branch), nil, &f); err != nil {
		return file{}, fmt.Errorf("file %s on branch %s: %w", name, branch, err)
	}
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(f.Content, "\n", ""))
	if err != nil {
		return file{}, fmt.Errorf("file %s on branch %s: %w", name, branch, err)
	}
	return file{string(text), f.SHA}, nil
}

// pull makes a branch with the edited files, and a pull request of it, unless they exist.
func (g *gitea) pull(ctx context.Context, c change, base string, edited []string) error {
	branch := c.branch()
	err := g.call(ctx, http.MethodGet, "/branches/"+branch, nil, nil)
	if errors.Is(err, sdk.ErrNotFound) {
		err = g.fork(ctx, branch, base)
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
		in := map[string]any{
			"branch": branch, "sha": f.sha, "message": c.title(), "content": base64.StdEncoding.EncodeToString([]byte(text)),
		}
		if err := g.call(ctx, http.MethodPut, contents(name), in, nil); err != nil {
			return fmt.Errorf("change file %s on branch %s: %w", name, branch, err)
		}
	}
	owner, _, _ := strings.Cut(g.Repository, "/")
	query := "&head=" + url.QueryEscape(owner+":"+branch)
	return g.open(ctx, "/pulls", query, func(p proposal) bool { return p.Head.Ref == branch },
		map[string]any{"title": c.title(), "body": c.body(), "head": branch, "base": base})
}

// proposal is a pull request or an issue.
type proposal struct {
	Title string `json:"title"`
	Head  struct {
		Ref string `json:"ref"`
	} `json:"head"`
}

// open makes a pull request or an issue, unless the same one is open.
func (g *gitea) open(ctx context.Context, below, query string, same func(proposal) bool, in map[string]any) error {
	var open []proposal
	if err := g.call(ctx, http.MethodGet, below+"?state=open&limit=50&per_page=100"+query, nil, &open); err != nil {
		return err
	}
	if slices.ContainsFunc(open, same) {
		return nil
	}
	return g.call(ctx, http.MethodPost, below, in, nil)
}

// fork makes a branch of another.
func (g *gitea) fork(ctx context.Context, branch, base string) error {
	if g.Format == "gitea" {
		return g.call(ctx, http.MethodPost, "/branches", map[string]any{
			"new_branch_name": branch, "old_branch_name": base,
		}, nil)
	}
	var from struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	if err := g.call(ctx, http.MethodGet, "/git/ref/heads/"+base, nil, &from); err != nil {
		return err
	}
	return g.call(ctx, http.MethodPost, "/git/refs", map[string]any{
		"ref": "refs/heads/" + branch, "sha": from.Object.SHA,
	}, nil)
}
