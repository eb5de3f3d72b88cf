package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
)

// gitlab has version 4 of the REST API of GitLab: https://docs.gitlab.com/api/rest/, with the token in the header
// of https://docs.gitlab.com/api/rest/authentication/. A project, and a file in it, is a path in one piece: its slashes
// are escaped. Too many requests, of which a project allows 400 a minute on GitLab.com, are responded to with the
// status 429 and the time to wait: https://docs.gitlab.com/security/rate_limits/.
//
// Lines of a description that begin with a slash are commands to GitLab; no line of a proposal does.
type gitlab struct{ api }

func newGitLab(a api, o options) gitlab {
	a.at = o.URL.JoinPath("api/v4/projects").String() + "/" + url.PathEscape(o.Repository)
	a.header = http.Header{"Private-Token": {o.Token}}
	return gitlab{a}
}

// defaultBranch is of https://docs.gitlab.com/api/projects/.
func (g gitlab) defaultBranch(ctx context.Context) (string, error) {
	var project struct {
		Branch string `json:"default_branch"`
	}
	err := g.call(ctx, http.MethodGet, "", nil, &project)
	return project.Branch, err
}

// findBranch is of https://docs.gitlab.com/api/branches/, as fork is.
func (g gitlab) findBranch(ctx context.Context, name string) error {
	return g.call(ctx, http.MethodGet, "/repository/branches/"+url.PathEscape(name), nil, nil)
}

func (g gitlab) fork(ctx context.Context, branch, base string) error {
	return g.call(ctx, http.MethodPost, "/repository/branches", map[string]any{"branch": branch, "ref": base}, nil)
}

// read is of https://docs.gitlab.com/api/repository_files/, as write is.
func (g gitlab) read(ctx context.Context, name, branch string) (file, error) {
	var f struct {
		Content string `json:"content"`
		Commit  string `json:"last_commit_id"`
	}
	below := "/repository/files/" + url.PathEscape(name) + "?ref=" + url.QueryEscape(branch)
	if err := g.call(ctx, http.MethodGet, below, nil, &f); err != nil {
		return file{}, err
	}
	return decode(f.Content, f.Commit)
}

func (g gitlab) write(ctx context.Context, name, branch string, old file, text, message string) error {
	return g.call(ctx, http.MethodPut, "/repository/files/"+url.PathEscape(name), map[string]any{
		"branch": branch, "last_commit_id": old.version, "commit_message": message,
		"content": encode(text), "encoding": "base64",
	}, nil)
}

// openPull is of https://docs.gitlab.com/api/merge_requests/.
func (g gitlab) openPull(ctx context.Context, branch, base string, p proposal) error {
	const below = "/merge_requests"
	var open []issue
	query := "?state=opened&source_branch=" + url.QueryEscape(branch)
	if err := g.call(ctx, http.MethodGet, below+query, nil, &open); err != nil || len(open) > 0 {
		return err
	}
	return g.call(ctx, http.MethodPost, below, map[string]any{
		"source_branch": branch, "target_branch": base, "title": p.title, "description": p.body, "remove_source_branch": true,
	}, nil)
}

// openIssue is of https://docs.gitlab.com/api/issues/.
func (g gitlab) openIssue(ctx context.Context, p proposal) error {
	const below = "/issues"
	var open []issue
	query := "?state=opened&per_page=100&in=title&search=" + url.QueryEscape(p.title)
	if err := g.call(ctx, http.MethodGet, below+query, nil, &open); err != nil {
		return err
	}
	if slices.ContainsFunc(open, func(i issue) bool { return i.Title == p.title }) {
		return nil
	}
	return g.call(ctx, http.MethodPost, below, map[string]any{"title": p.title, "description": p.body}, nil)
}
