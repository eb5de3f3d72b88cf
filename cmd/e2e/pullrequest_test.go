package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// gitea is a repository, which responds as Gitea does: each branch with one file.
type gitea struct {
	mu       sync.Mutex
	file     string
	branches map[string]string
	pulls    []map[string]string
}

func (g *gitea) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	in := map[string]string{}
	_ = json.NewDecoder(r.Body).Decode(&in)
	below := r.Method + strings.TrimPrefix(r.URL.Path, "/api/v1/repos/ana/homelab")
	var out any = in
	switch text, has := g.branches[strings.TrimPrefix(below, "GET/branches/")]; {
	case r.Header.Get("Authorization") != "token s3cret-of-gitea":
		w.WriteHeader(http.StatusUnauthorized)
	case below == "GET":
		out = map[string]string{"default_branch": "main"}
	case below == "POST/branches":
		g.branches[in["new_branch_name"]] = g.branches[in["old_branch_name"]]
	case below == "GET/contents/"+g.file:
		text = g.branches[r.FormValue("ref")]
		out = map[string]string{"content": base64.StdEncoding.EncodeToString([]byte(text)), "sha": "1"}
	case below == "PUT/contents/"+g.file:
		content, _ := base64.StdEncoding.DecodeString(in["content"])
		g.branches[in["branch"]] = string(content)
	case below == "GET/pulls":
		out = []any{}
	case below == "POST/pulls":
		g.pulls = append(g.pulls, in)
	case !has:
		w.WriteHeader(http.StatusNotFound)
	default:
		out = map[string]string{"name": text}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// TestPullRequest: the update of what Argo CD owns is refused, in words that name the file and the trigger, which opens
// a pull request for that file.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	registry := registrysim.New(registrysim.Options{})
	registry.Push("team/app", "1.0.0")
	registry.Push("team/app", "1.1.0")
	sim := httptest.NewServer(registry)
	t.Cleanup(sim.Close)
	at, err := url.Parse(sim.URL)
	must(t, err)
	values := "web:\n  image:\n    repository: " + at.Host + "/team/app # ours\n    tag: 1.0.0\n"
	repository := &gitea{file: "apps/web/values.yaml", branches: map[string]string{"main": values}}
	forge := httptest.NewServer(repository)
	t.Cleanup(forge.Close)
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		items := ""
		if r.URL.Path == "/apis/apps/v1/deployments" || r.URL.Path == "/apis/apps/v1/namespaces/media/deployments" {
			items = fmt.Sprintf(`{"metadata": {"namespace": "media", "name": "web", "annotations": {
				"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:media/web",
				"dogwatch/source.file": "apps/web/values.yaml", "dogwatch/source.repository": "%s/ana/homelab.git"}},
				"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "%s/team/app:1.0.0"}]}}}}`, forge.URL, at.Host)
		}
		if r.FormValue("watch") == "true" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintf(w, `{"metadata": {"resourceVersion": "1"}, "items": [%s]}`, items)
	}))
	t.Cleanup(cluster.Close)
	plugins := shortDir(t)
	compiled, err := build(filepath.Join("..", "..", "examples", "trigger-gitea"), "trigger-gitea")
	must(t, err)
	copyFile(t, compiled, filepath.Join(plugins, "trigger-gitea"))
	d := install(t, "DOGWATCH_WATCHER_KUBERNETES_HOME_SERVER="+cluster.URL, "DOGWATCH_WATCHER_KUBERNETES_HOME_UPDATE=true",
		"DOGWATCH_REGISTRY_CUSTOM_SIM_URL="+sim.URL, "DOGWATCH_PLUGINS_DIR="+plugins,
		"DOGWATCH_TRIGGER_GITEA_OTHER_URL="+forge.URL, "DOGWATCH_TRIGGER_GITEA_OTHER_REPOSITORY=ana/other",
		"DOGWATCH_TRIGGER_GITEA_OTHER_TOKEN=s3cret-of-gitea",
		"DOGWATCH_TRIGGER_GITEA_SHOP_URL="+forge.URL, "DOGWATCH_TRIGGER_GITEA_SHOP_REPOSITORY=ana/homelab",
		"DOGWATCH_TRIGGER_GITEA_SHOP_TOKEN=s3cret-of-gitea").start()
	d.watch()
	pulls := func() []map[string]string {
		repository.mu.Lock()
		defer repository.mu.Unlock()
		return repository.pulls
	}
	eventually(t, "a pull request is opened", func() bool { return len(pulls()) > 0 })
	repository.mu.Lock()
	for branch, text := range repository.branches {
		if want := strings.Replace(values, "1.0.0", "1.1.0", 1); branch != "main" && text != want || branch == "main" && text != values {
			t.Errorf("branch %s has\n%s", branch, text)
		}
	}
	repository.mu.Unlock()
	want := "media_web belongs to the application shop of Argo CD: change the image in apps/web/values.yaml of " + forge.URL +
		"/ana/homelab.git; a pull request is opened by gitea.shop"
	if p := d.plan("media_web"); len(p.Blocks) != 1 || p.Blocks[0].Text != want {
		t.Errorf("blocked: %+v, want %s", p.Blocks, want)
	}
	_, page := d.as("Accept-Language: de", http.MethodGet, "/containers/home/media_web/update", "")
	if !strings.Contains(page, "ändern Sie das Image in apps/web/values.yaml of ") ||
		!strings.Contains(page, "gitea.shop öffnet einen Pull-Request") {
		t.Error("the page of the plan does not say what happens instead", page)
	}
	d.stop()
	if got := pulls(); len(got) != 1 || got[0]["base"] != "main" || !strings.Contains(got[0]["body"], "home/media_web") {
		t.Errorf("the pull requests are %v", got)
	}
	if d.says("s3cret-of-gitea") {
		t.Error("the token is logged")
	}
}
