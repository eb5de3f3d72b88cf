package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func settings(format string) func(url string) map[string]any {
	repository := "ana/homelab"
	if format == "gitlab" {
		repository = "ana/infra/homelab"
	}
	return func(url string) map[string]any {
		return map[string]any{
			"format": format, "url": url, "repository": repository, "token": "recognisable-token",
			"files": "web/compose.yaml,web.container",
		}
	}
}

func TestConformance(t *testing.T) {
	for _, format := range []string{"gitea", "github", "gitlab"} {
		options := settings(format)
		failures := triggertest.HTTPFailures(options)
		t.Run(format, func(t *testing.T) {
			triggertest.Run(t, giteaType(), triggertest.Case{
				Options: func(t *testing.T) map[string]any { return options(serveForge(t, format).url) },
				Hanging: func(t *testing.T, reached func()) map[string]any { return options(plugintest.Hanging(t, reached)) },
				Failing: append(failures,
					triggertest.Failure{Name: "no such file", Kind: sdk.ErrNotFound, Options: func(t *testing.T) map[string]any {
						o := options(serveForge(t, format).url)
						o["files"] = "nosuchfile.yaml"
						return o
					}}),
				Invalid: []triggertest.Invalid{
					{Field: "url", Set: map[string]any{"url": "ftp://example.com"}},
					{Field: "url", Set: map[string]any{"url": nil, "format": "gitea"}},
					{Field: "repository", Set: map[string]any{"repository": "homelab"}},
					{Field: "repository", Set: map[string]any{"repository": "ana/infra/homelab", "format": "github"}},
					{Field: "repository", Set: map[string]any{"repository": "ana/homelab/../other"}},
					{Field: "files", Set: map[string]any{"files": "../compose.yaml"}},
				},
			})
		})
	}
}

// TestUpdateBecomesPullRequest: in each service, one branch and one pull request, however
// often it is delivered and wherever a try before it ended.
func TestUpdateBecomesPullRequest(t *testing.T) {
	for _, format := range []string{"gitea", "github", "gitlab"} {
		t.Run(format, func(t *testing.T) {
			f := serveForge(t, format)
			run := plugintest.Trigger(t, giteaType(), settings(format)(f.url)).Run
			req := triggertest.Request("nginx", "nginx", "redis")
			failures := 0
			for f.failAfter = 1; run(t.Context(), req) != nil; f.failAfter++ { // each request after the first so many fails
				failures++
			}
			f.failAfter = 0
			if err := run(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if failures < 5 {
				t.Errorf("only %d tries failed", failures)
			}
			branch := ""
			for name := range f.branches {
				if name != "main" {
					branch = name
				}
			}
			if len(f.branches) != 2 || !strings.HasPrefix(branch, "dogwatch-nginx-1-27-0-") {
				t.Fatalf("there are the branches %v", f.branches)
			}
			if f.branches["main"]["web/compose.yaml"] != compose {
				t.Error("the file was changed on the default branch")
			}
			if got, want := f.branches[branch]["web/compose.yaml"],
				strings.Replace(compose, "nginx:1.25.3", "nginx:1.27.0", 1); got != want {
				t.Errorf("the file is now:\n%s", got)
			}
			if got, want := f.branches[branch]["web.container"], strings.Replace(quadlet, ":1.25.3", ":1.27.0", 1); got != want {
				t.Errorf("the quadlet is now:\n%s", got)
			}
			const title = "Update nginx from 1.25.3 to 1.27.0"
			if len(f.pulls) != 1 || f.pulls[0]["title"] != title || f.pulls[0]["head"] != branch ||
				f.pulls[0]["base"] != "main" {
				t.Fatalf("there are the pull requests %v", f.pulls)
			}
			body, _ := f.pulls[0]["body"].(string)
			if want := "Dogwatch found `1.27.0` for:\n\n- `local/nginx`\n- `local/nginx`\n\nRelease notes: <https://example.org/nginx/1.27.0>\n"; body != want {
				t.Errorf("the pull request says %q, want %q", body, want)
			}
			if len(f.issues) != 1 || f.issues[0]["title"] != "Update redis from 1.25.3 to 1.27.0" {
				t.Errorf("there are the issues %v", f.issues)
			}
			if f.commits != 2 {
				t.Errorf("there are %d commits", f.commits)
			}
		})
	}
}

func TestNothingIsMade(t *testing.T) {
	sample := triggertest.Request("nginx")
	sample.Test = true
	merged := triggertest.Request("nginx")
	merged.Containers[0].UpdateKind.LocalValue, merged.Containers[0].UpdateKind.RemoteValue = "1.24.0", "1.25.3"
	for name, req := range map[string]trigger.Request{"sample": sample, "merged": merged, "event": triggertest.Event()} {
		f := serveForge(t, "gitea")
		if err := plugintest.Trigger(t, giteaType(), settings("gitea")(f.url)).Run(t.Context(), req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(f.branches) != 1 || len(f.pulls) != 0 || len(f.issues) != 0 {
			t.Errorf("%s: made %v, %v, %v", name, f.branches, f.pulls, f.issues)
		}
	}
}

func TestEdit(t *testing.T) {
	old, fresh := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	tag := change{image: "docker.io/library/nginx", from: "1.25.3", to: "1.27.0", digest: fresh}
	number := change{image: "docker.io/library/nginx", from: "1.25", to: "1.30", digest: fresh}
	other := change{image: "ghcr.io/team/app", from: "1", to: "2"}
	digest := change{image: "docker.io/library/nginx", from: old, to: fresh}
	for _, c := range []struct {
		change     change
		text, want string
		current    bool
	}{
		{tag, "image: nginx:1.25.3", "image: nginx:1.27.0", false},
		{tag, "    image:  \"docker.io/library/nginx:1.25.3\" # ours",
			"    image:  \"docker.io/library/nginx:1.27.0\" # ours", false},
		{tag, "- image: 'nginx:1.25.3'\r\n", "- image: 'nginx:1.27.0'\r\n", false},
		{tag, "  image: &web nginx:1.25.3\n", "  image: &web nginx:1.27.0\n", false},
		{tag, "[Container]\nImage=docker.io/library/nginx:1.25.3\n",
			"[Container]\nImage=docker.io/library/nginx:1.27.0\n", false},
		{tag, "  config { image = \"nginx:1.25.3\" }\n", "  config { image = \"nginx:1.27.0\" }\n", false},
		{tag, "image: nginx:1.25.3@" + old, "image: nginx:1.27.0@" + fresh, false},
		{tag, "image: nginx:1.27.0", "image: nginx:1.27.0", true},
		{tag, "image: nginx:1.25.3-alpine", "image: nginx:1.25.3-alpine", false},
		{tag, "image: other/nginx:1.25.3", "image: other/nginx:1.25.3", false},
		{tag, "image: nginx:${TAG}", "image: nginx:${TAG}", false},
		{tag, "# image: nginx:1.25.3", "# image: nginx:1.25.3", false},
		{tag, "x-image: nginx:1.25.3", "x-image: nginx:1.25.3", false},
		{other, "image: ghcr.io/team/app:1", "image: ghcr.io/team/app:2", false},
		{other, "image: ghcr.io/team/app:1@" + old, "image: ghcr.io/team/app:1@" + old, false}, // of what there is no digest
		{digest, "image: nginx@" + old, "image: nginx@" + fresh, false},
		{digest, "image: nginx:1.27@" + old, "image: nginx:1.27@" + fresh, false},
		{digest, "image: nginx:latest", "image: nginx:latest", false},
		{tag, "image: {repository: nginx, tag: 1.25.3, pullPolicy: Always} # ours",
			"image: {repository: nginx, tag: 1.27.0, pullPolicy: Always} # ours", false},
		{tag, "web:\r\n  image:\r\n    registry: docker.io\r\n    repository: library/nginx\r\n    tag: \"1.25.3\" # ü\r\n",
			"web:\r\n  image:\r\n    registry: docker.io\r\n    repository: library/nginx\r\n    tag: \"1.27.0\" # ü\r\n", false},
		{number, "a: 1\n---\nimage:\n  tag: 1.25\n  repository: nginx\n",
			"a: 1\n---\nimage:\n  tag: \"1.30\"\n  repository: nginx\n", false},
		{number, "image: {repository: nginx, tag: 1.25, digest: " + old + "}",
			"image: {repository: nginx, tag: \"1.30\", digest: " + fresh + "}", false},
		{tag, "image: {repository: nginx, tag: 1.27.0}", "image: {repository: nginx, tag: 1.27.0}", true},
		{tag, "image: {repository: nginx, tag: 1.25.3-alpine}", "image: {repository: nginx, tag: 1.25.3-alpine}", false},
		{tag, "image: {repository: ghcr.io/nginx, tag: 1.25.3}", "image: {repository: ghcr.io/nginx, tag: 1.25.3}", false},
		{tag, "image: {repository: nginx, tag: &v 1.25.3}", "image: {repository: nginx, tag: &v 1.25.3}", false},
		{tag, "image: {repository: nginx, tag: 1.25.3, digest: " + old + "}",
			"image: {repository: nginx, tag: 1.27.0, digest: " + fresh + "}", false},
		{digest, "image: {repository: nginx, tag: latest, digest: '" + old + "'}",
			"image: {repository: nginx, tag: latest, digest: '" + fresh + "'}", false},
		{tag, "images:\n  - name: nginx\n    newTag: '1.25.3'\n  - name: app\n    newTag: 1.25.3\n",
			"images:\n  - name: nginx\n    newTag: '1.27.0'\n  - name: app\n    newTag: 1.25.3\n", false},
		{other, "images: [{name: app, newName: ghcr.io/team/app, newTag: '1'}]",
			"images: [{name: app, newName: ghcr.io/team/app, newTag: '2'}]", false},
		{tag, `{"containers": [{"name": "ü", "image": "nginx:1.25.3"}]}`,
			`{"containers": [{"name": "ü", "image": "nginx:1.27.0"}]}`, false},
		{tag, "image:\n  repository: nginx\n  tag: {{ .Values.tag }}\n", "image:\n  repository: nginx\n  tag: {{ .Values.tag }}\n", false},
		{tag, "image: nginx:1.25.3\nno: [yaml", "image: nginx:1.27.0\nno: [yaml", false},
	} {
		if got, current := c.change.edit(c.text); got != c.want || current != c.current {
			t.Errorf("%q becomes %q, %v; want %q, %v", c.text, got, current, c.want, c.current)
		}
	}
}

// What comes from labels and registries is text, and no Markdown.
func TestBodyHoldsNoMarkup(t *testing.T) {
	req := triggertest.Request("nginx")
	req.Containers[0].Name = "a`\n# big @all `b"
	req.Containers[0].Result.Link = "https://example.org/> <img src=x>"
	c := options{}.changesOf(req.Containers)[0]
	if want := "Dogwatch found `1.27.0` for:\n\n- `local/a# big @all b`\n"; c.body() != want {
		t.Errorf("got %q, want %q", c.body(), want)
	}
}

// TestLabelsNameTheFile: the file of a container's label is changed and no other, where the label is the user's and the
// repository this one; that the file is not there keeps no other update back.
func TestLabelsNameTheFile(t *testing.T) {
	const values = "web:\n  image:\n    repository: nginx\n    tag: 1.25.3\n"
	const staging = "images: [{name: nginx, newTag: 1.25.3}]\n"
	for _, c := range []struct {
		name             string
		labels           map[string]string
		image            []string
		changed, opening string // the file that is changed, or what is opened instead
	}{
		{"file", map[string]string{fileLabel: "apps/values.yaml"}, nil, "apps/values.yaml", "pull"},
		{"repository", map[string]string{fileLabel: "./staging/kustomization.yaml",
			repositoryLabel: "https://git.example.org/Ana/homelab.git"}, nil, "staging/kustomization.yaml", "pull"},
		{"repository over SSH", map[string]string{fileLabel: "apps/values.yaml",
			repositoryLabel: "git@git.example.org:ana/homelab.git"}, nil, "apps/values.yaml", "pull"},
		{"another repository", map[string]string{fileLabel: "apps/values.yaml", repositoryLabel: "ana/other"}, nil, "", ""},
		{"not there", map[string]string{fileLabel: "apps/nosuchfile.yaml"}, nil, "", "issue"},
		{"outside", map[string]string{fileLabel: "../../issues"}, nil, "", "issue"},
		{"of the image", map[string]string{fileLabel: "apps/values.yaml"}, []string{fileLabel}, "web/compose.yaml", "pull"},
		{"not known whose", map[string]string{fileLabel: "apps/values.yaml"}, []string{"*"}, "web/compose.yaml", "pull"},
	} {
		f := serveForge(t, "gitea")
		f.branches["main"]["apps/values.yaml"], f.branches["main"]["staging/kustomization.yaml"] = values, staging
		f.branches["main"]["../../issues"] = values
		req := triggertest.Request("nginx")
		req.Containers[0].Labels, req.Containers[0].ImageLabels = c.labels, c.image
		set := settings("gitea")(f.url)
		set["files"] = "web/compose.yaml"
		if err := plugintest.Trigger(t, giteaType(), set).Run(t.Context(), req); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := len(f.pulls); got != strings.Count(c.opening, "pull") {
			t.Errorf("%s: %d pull requests", c.name, got)
		}
		if got := len(f.issues); got != strings.Count(c.opening, "issue") {
			t.Errorf("%s: %d issues", c.name, got)
		}
		for branch, files := range f.branches {
			for name, text := range files {
				was := f.branches["main"][name]
				if changed := branch != "main" && name == c.changed; (text != was) != changed {
					t.Errorf("%s: %s is\n%s", c.name, name, text)
				} else if changed && text != strings.Replace(was, "1.25.3", "1.27.0", 1) {
					t.Errorf("%s: %s is\n%s", c.name, name, text)
				}
			}
		}
	}
}

// A version that is more than one word is written into no file.
func TestVersionsAreWords(t *testing.T) {
	req := triggertest.Request("nginx")
	req.Containers[0].UpdateKind.RemoteValue = "1.27.0\nprivileged: true"
	if all := (options{}).changesOf(req.Containers); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
}

// A delivery that waits for another one ends with its context.
func TestWaitingEndsWithItsContext(t *testing.T) {
	reached := make(chan struct{}, 1)
	g, err := giteaType().New(sdk.Env{}, settings("gitea")(plugintest.Hanging(t, func() { reached <- struct{}{} })))
	if err != nil {
		t.Fatal(err)
	}
	run := g.Run
	first, endFirst := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(first, triggertest.Request("nginx")) }()
	<-reached
	second, endSecond := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer endSecond()
	if err := run(second, triggertest.Request("nginx")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	endFirst()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the first delivery: %v", err)
	}
}
