package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// github has the REST API of GitHub, https://docs.github.com/en/rest, which Gitea and Forgejo follow,
// https://docs.gitea.com/api/, but for how a branch is made. GitHub serves 5,000 requests an hour.
type github struct {
	api
	owner string
	gitea bool
}

func newGitHub(a api, o options) github {
	owner, _, _ := strings.Cut(o.Repository, "/")
	a.at = o.URL.JoinPath("repos", o.Repository).String()
	a.header = http.Header{"Authorization": {"token " + o.Token}}
	return github{a, owner, o.Format == "gitea"}
}

func (g github) defaultBranch(ctx context.Context) (string, error) {
	var repository struct {
		Branch string `json:"default_branch"`
	}
	err := g.call(ctx, http.MethodGet, "", nil, &repository)
	return repository.Branch, err
}

func (g github) findBranch(ctx context.Context, name string) error {
	return g.call(ctx, http.MethodGet, "/branches/"+name, nil, nil)
}

func (g github) fork(ctx context.Context, branch, base string) error {
	if g.gitea {
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

func contents(name string) string {
	return "/contents/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

func (g github) read(ctx context.Context, name, branch string) (file, error) {
	var f struct {
		Content string `json:"content"`
		SHA     string `json:"sha"`
	}
	if err := g.call(ctx, http.MethodGet, contents(name)+"?ref="+url.QueryEscape(branch), nil, &f); err != nil {
		return file{}, err
	}
	return decode(f.Content, f.SHA)
}

func (g github) write(ctx context.Context, name, branch string, old file, text, message string) error {
	return g.call(ctx, http.MethodPut, contents(name), map[string]any{
		"branch": branch, "sha": old.version, "message": message, "content": encode(text),
	}, nil)
}

// issue is an issue or a pull request, which has a branch.
type issue struct {
	Title string `json:"title"`
	Head  struct {
		Ref string `json:"ref"`
	} `json:"head"`
}

func (g github) openPull(ctx context.Context, branch, base string, p proposal) error {
	query := "&head=" + url.QueryEscape(g.owner+":"+branch)
	return g.open(ctx, "/pulls", query, func(i issue) bool { return i.Head.Ref == branch },
		map[string]any{"title": p.title, "body": p.body, "head": branch, "base": base})
}

func (g github) openIssue(ctx context.Context, p proposal) error {
	return g.open(ctx, "/issues", "", func(i issue) bool { return i.Title == p.title },
		map[string]any{"title": p.title, "body": p.body})
}

func (g github) open(ctx context.Context, below, query string, same func(issue) bool, in map[string]any) error {
	var open []issue
	if err := g.call(ctx, http.MethodGet, below+"?state=open&limit=50&per_page=100"+query, nil, &open); err != nil {
		return err
	}
	if slices.ContainsFunc(open, same) {
		return nil
	}
	return g.call(ctx, http.MethodPost, below, in, nil)
}
