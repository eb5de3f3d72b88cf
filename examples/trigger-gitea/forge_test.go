package main

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

const compose = `# what runs on the NAS
services:
  web:
    image: nginx:1.25.3 # keep in step with the quadlet
  app:
    image: ghcr.io/team/app:2.0
`

const quadlet = "[Container]\nImage=docker.io/library/nginx:1.25.3\n"

// service has one repository, which responds as Gitea 1.22, GitHub and GitLab 17 do.
type service struct {
	url    string
	format string

	mu       sync.Mutex
	branches map[string]map[string]string
	pulls    []map[string]any
	issues   []map[string]any
	commits  int
	// failAfter is how many requests are served before the next one fails; 0 for no failure.
	failAfter, served int
}

func serveForge(t *testing.T, format string) *service {
	f := &service{
		format:   format,
		branches: map[string]map[string]string{"main": {"web/compose.yaml": compose, "web.container": quadlet}},
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "token recognisable-token" && f.format != "gitlab" ||
		r.Header.Get("Private-Token") != "recognisable-token" && f.format == "gitlab" {
		respond(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
		return
	}
	prefix := map[string]string{
		"gitea": "/api/v1/repos/ana/homelab", "github": "/repos/ana/homelab",
		"gitlab": "/api/v4/projects/ana%2Finfra%2Fhomelab",
	}[f.format]
	path, found := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if !found {
		respond(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	if f.served++; f.failAfter > 0 && f.served > f.failAfter {
		f.served = 0
		respond(w, http.StatusBadGateway, nil)
		return
	}
	in := map[string]any{}
	if text, _ := io.ReadAll(r.Body); len(text) > 0 {
		if err := json.Unmarshal(text, &in); err != nil {
			respond(w, http.StatusBadRequest, nil)
			return
		}
	}
	respondTo := f.respond
	if f.format == "gitlab" {
		respondTo = f.respondGitLab
	}
	status, out := respondTo(r.Method+" "+path, r, in)
	respond(w, status, out)
}

func respond(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func (f *service) respond(call string, r *http.Request, in map[string]any) (int, any) {
	text := func(key string) string { value, _ := in[key].(string); return value }
	name := func(prefix string) string { return strings.TrimPrefix(call, prefix) }
	switch {
	case call == "GET ":
		return http.StatusOK, map[string]any{"full_name": "ana/homelab", "default_branch": "main", "private": true}
	case strings.HasPrefix(call, "GET /branches/"):
		if f.branches[name("GET /branches/")] == nil {
			return http.StatusNotFound, map[string]any{"message": "Branch not found"}
		}
		return http.StatusOK, map[string]any{"name": name("GET /branches/"), "protected": false}
	case call == "POST /branches" && f.format == "gitea":
		return f.branch(text("new_branch_name"), text("old_branch_name"), http.StatusConflict)
	case call == "GET /git/ref/heads/main" && f.format == "github":
		return http.StatusOK, map[string]any{
			"ref":    "refs/heads/main",
			"object": map[string]any{"type": "commit", "sha": "aa218f56b14c9653891f9e74264a383fa43fefbd"},
		}
	case call == "POST /git/refs" && f.format == "github" && text("sha") == "aa218f56b14c9653891f9e74264a383fa43fefbd":
		return f.branch(strings.TrimPrefix(text("ref"), "refs/heads/"), "main", http.StatusUnprocessableEntity)
	case strings.HasPrefix(call, "GET /contents/"):
		content, ok := f.branches[r.URL.Query().Get("ref")][name("GET /contents/")]
		if !ok {
			return http.StatusNotFound, map[string]any{"message": "Not Found"}
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(content))
		if f.format == "github" { // in lines
			encoded = encoded[:min(60, len(encoded))] + "\n" + encoded[min(60, len(encoded)):] + "\n"
		}
		return http.StatusOK, map[string]any{"type": "file", "encoding": "base64", "content": encoded, "sha": blob(content)}
	case strings.HasPrefix(call, "PUT /contents/"):
		file := name("PUT /contents/")
		content, err := base64.StdEncoding.DecodeString(text("content"))
		if branch := f.branches[text("branch")]; err != nil || branch == nil || text("sha") != blob(branch[file]) ||
			text("message") == "" {
			return http.StatusUnprocessableEntity, map[string]any{"message": "sha does not match"}
		}
		f.branches[text("branch")][file] = string(content)
		f.commits++
		return http.StatusOK, map[string]any{"commit": map[string]any{}}
	case call == "GET /pulls":
		all := []any{}
		for _, p := range f.pulls {
			all = append(all, map[string]any{"title": p["title"], "head": map[string]any{"ref": p["head"]}})
		}
		return http.StatusOK, all
	case call == "POST /pulls":
		f.pulls = append(f.pulls, in)
		return http.StatusCreated, in
	case call == "GET /issues":
		return http.StatusOK, append([]map[string]any{}, f.issues...)
	case call == "POST /issues":
		f.issues = append(f.issues, in)
		return http.StatusCreated, in
	}
	return http.StatusNotFound, map[string]any{"message": "Not Found"}
}

// respondGitLab is of GitLab, where names in paths are escaped.
func (f *service) respondGitLab(call string, r *http.Request, in map[string]any) (int, any) {
	const files, branches = "/repository/files/", "/repository/branches"
	text := func(key string) string { value, _ := in[key].(string); return value }
	refuse := func(status int, why string) (int, any) { return status, map[string]any{"message": why} }
	name := func(prefix string) string {
		text, _ := url.PathUnescape(strings.TrimPrefix(call, prefix))
		return text
	}
	switch {
	case call == "GET ":
		return http.StatusOK, map[string]any{"path_with_namespace": "ana/infra/homelab", "default_branch": "main"}
	case strings.HasPrefix(call, "GET "+branches+"/"):
		if f.branches[name("GET "+branches+"/")] == nil {
			return refuse(http.StatusNotFound, "404 Branch Not Found")
		}
		return http.StatusOK, map[string]any{"name": name("GET " + branches + "/")}
	case call == "POST "+branches:
		return f.branch(text("branch"), text("ref"), http.StatusBadRequest)
	case strings.HasPrefix(call, "GET "+files) && !strings.Contains(strings.TrimPrefix(call, "GET "+files), "/"):
		content, ok := f.branches[r.URL.Query().Get("ref")][name("GET "+files)]
		if !ok {
			return refuse(http.StatusNotFound, "404 File Not Found")
		}
		return http.StatusOK, map[string]any{
			"encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(content)),
			"blob_id": "79f7bbd2", "last_commit_id": blob(content),
		}
	case strings.HasPrefix(call, "PUT "+files):
		content, err := base64.StdEncoding.DecodeString(text("content"))
		branch, file := f.branches[text("branch")], name("PUT "+files)
		if err != nil || branch == nil || text("last_commit_id") != blob(branch[file]) || text("encoding") != "base64" ||
			text("commit_message") == "" {
			return refuse(http.StatusBadRequest, "You are attempting to update a file that has changed")
		}
		branch[file] = string(content)
		f.commits++
		return http.StatusOK, map[string]any{"file_path": file, "branch": text("branch")}
	case call == "GET /merge_requests" && r.URL.Query().Get("state") == "opened":
		all := []any{}
		for _, p := range f.pulls {
			if p["head"] == r.URL.Query().Get("source_branch") {
				all = append(all, map[string]any{"title": p["title"], "source_branch": p["head"]})
			}
		}
		return http.StatusOK, all
	case call == "POST /merge_requests":
		f.pulls = append(f.pulls, map[string]any{
			"title": in["title"], "body": in["description"], "head": in["source_branch"], "base": in["target_branch"],
		})
		return http.StatusCreated, in
	case call == "GET /issues" && r.URL.Query().Get("state") == "opened":
		return http.StatusOK, append([]map[string]any{}, f.issues...)
	case call == "POST /issues":
		f.issues = append(f.issues, in)
		return http.StatusCreated, in
	}
	return refuse(http.StatusNotFound, "404 Not Found")
}

func (f *service) branch(name, of string, conflict int) (int, any) {
	if f.branches[name] != nil || f.branches[of] == nil {
		return conflict, map[string]any{"message": "Reference already exists"}
	}
	f.branches[name] = maps.Clone(f.branches[of])
	return http.StatusCreated, map[string]any{"name": name}
}

// blob is the id that Git gives to a content.
func blob(content string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)))
}
