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

// forge is a service with one repository, which responds as Gitea 1.22 and GitHub do.
type forge struct {
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

func newForge(t *testing.T, format string) *forge {
	f := &forge{
		format:   format,
		branches: map[string]map[string]string{"main": {"web/compose.yaml": compose, "web.container": quadlet}},
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "token recognisable-token" {
		respond(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
		return
	}
	prefix := map[string]string{"gitea": "/api/v1", "github": ""}[f.format] + "/repos/ana/homelab"
	path, found := strings.CutPrefix(r.URL.Path, prefix)
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
	status, out := f.respond(r.Method+" "+path, r, in)
	respond(w, status, out)
}

func respond(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func (f *forge) respond(call string, r *http.Request, in map[string]any) (int, any) {
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

func (f *forge) branch(name, of string, conflict int) (int, any) {
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
