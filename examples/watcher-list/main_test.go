package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
	"github.com/dogwatch/dogwatch/sdk/watchertest"
)

func TestConformance(t *testing.T) {
	settings := func(url string) map[string]any {
		return map[string]any{"url": url + "/images.json", "token": "recognisable-token"}
	}
	watchertest.Run(t, listType(), watchertest.Case{
		Working: func(t *testing.T) watchertest.Engine {
			return watchertest.Engine{Options: settings(serve(t, `["nginx:1.25.3", "ghcr.io/team/app:2.0", {}]`)), Containers: 3}
		},
		Hanging: func(t *testing.T, reached func()) map[string]any {
			return settings(plugintest.Hanging(t, reached))
		},
		Failing: []watchertest.Failure{
			{Name: "refused", Kind: sdk.ErrUnauthorized, Options: func(t *testing.T) map[string]any {
				return settings(plugintest.Responding(t, http.StatusUnauthorized))
			}},
			{Name: "failing", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return settings(plugintest.Responding(t, http.StatusInternalServerError))
			}},
			{Name: "unreachable", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return settings(plugintest.Unreachable(t))
			}},
			{Name: "no file", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return map[string]any{"file": filepath.Join(t.TempDir(), "images.txt")}
			}},
			{Name: "a folder", Kind: &sdk.InvalidError{}, Options: func(t *testing.T) map[string]any {
				return map[string]any{"file": t.TempDir()}
			}},
			{Name: "half written", Kind: sdk.ErrUnavailable, Options: func(t *testing.T) map[string]any {
				return settings(serve(t, `[{"image": "nginx:1.`))
			}},
		},
		Invalid: []watchertest.Invalid{
			{Field: "url", Set: map[string]any{"url": "ftp://example.com"}},
			{Field: "file", Set: map[string]any{"file": "/config/images.txt"}},
			{Field: "file", Set: map[string]any{"url": nil}},
			{Field: "file", Set: map[string]any{"url": nil, "file": "images.txt"}},
			{Field: "platform", Set: map[string]any{"platform": "linux"}},
		},
	})
}

func TestListReadsBothForms(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	want := []string{
		"web  nginx 1.25.3",
		"app ghcr.io team/app 2.0 dogwatch.tag.include=^2",
		"app-2 ghcr.io team/app latest",
		"cache localhost:5000 redis 7@" + digest,
	}
	for form, text := range map[string]string{
		"text": "# what runs on the NAS\nweb nginx:1.25.3\n\nghcr.io/team/app:2.0 # pinned\nghcr.io/team/app\r\ncache   localhost:5000/redis:7@" + digest + "\n",
		"json": `["ignored"]`,
	} {
		options := map[string]any{"url": serve(t, text)}
		if form == "json" {
			options = map[string]any{
				"items": "data.services", "image": "spec.image", "name": "id", "version": "spec.running", "labels": "meta",
			}
			path := filepath.Join(t.TempDir(), "list.json")
			text = fmt.Sprintf(`{"data": {"services": [
				{"id": "/web", "spec": {"image": "nginx", "running": "1.25.3"}},
				{"spec": {"image": "ghcr.io/team/app:2.0"}, "meta": {"dogwatch.tag.include": "^2"}},
				{"spec": {"image": "ghcr.io/team/app"}},
				{"id": "cache", "spec": {"image": "localhost:5000/redis:7@%s"}}
			]}}`, digest)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			options["file"] = path
		}
		found, err := plugintest.Watcher(t, listType(), options).List(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		var got []string
		for _, c := range found {
			got = append(got, line(c))
		}
		if form == "text" {
			want[1] = strings.TrimSuffix(want[1], " dogwatch.tag.include=^2") // lines have no labels
		} else {
			want[1] = "app ghcr.io team/app 2.0 dogwatch.tag.include=^2"
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", form, got, want)
		}
	}
}

func line(c watcher.Container) string {
	text := c.Name + " " + c.Image.Host + " " + c.Image.Name + " " + c.Image.Tag
	if c.Image.Pinned {
		text += "@" + c.Image.Digest
	}
	for key, value := range c.Labels {
		text += " " + key + "=" + value
	}
	return text + c.Error
}

func TestProbeCountsUsableItems(t *testing.T) {
	w := plugintest.Watcher(t, listType(), map[string]any{"url": serve(t, `["nginx", 7]`)})
	found, err := w.Probe(t.Context(), sdk.ProbeRequest{})
	if err != nil || found.Summary != "2 images" || len(found.Warnings) != 1 ||
		!strings.Contains(found.Warnings[0], "item 2 of the list") {
		t.Errorf("got %+v, %v", found, err)
	}
}

// serve returns the address of a list.
func serve(t *testing.T, text string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
