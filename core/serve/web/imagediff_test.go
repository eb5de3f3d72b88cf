package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/imagediff"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func (f *fakeOperations) ImageDiff(context.Context, auth.Actor, string) (updater.ImageDiff, error) {
	return f.diff, f.planning
}

func TestImageDiffPage(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	before := sdk.ImageConfig{
		User: "app", Env: []string{"VERSION=1.0.0"}, Size: 80 << 20, Layers: []sdk.Layer{{Digest: "a", Size: 1 << 20}},
	}
	after := sdk.ImageConfig{
		Env: []string{"VERSION=1.1.0"}, Labels: map[string]string{"hostile": "<script>alert(1)</script>\x1b[31m"},
		Volumes: []string{"/data"},
		Size:    90 << 20, Layers: []sdk.Layer{{Digest: "a", Size: 1 << 20}, {Digest: "b", Size: 2 << 20}},
	}
	fakes(u).diff = updater.ImageDiff{
		From: watcher.PlannedImage{Reference: "nginx:1.0.0"},
		To:   watcher.PlannedImage{Reference: "docker.io/library/nginx:1.1.0"}, Diff: imagediff.Compare(before, after),
	}
	body := request(u, "GET", "/containers/local/web/diff", nil).Body.String()
	webtest.Contains(t, body, "<h1>What changes in the image of web</h1>", `<b class="tag">1.1.0</b>`,
		"Compressed size: 94.4 MB, was 83.9 MB. 1 of 2 layers already there; 2.1 MB to download.",
		"The new image runs as root instead of", "has a new volume /data", "environment variable VERSION", "<code>1.1.0</code>",
		"<summary>1 label</summary>", "&lt;script&gt;")
	if strings.Contains(body, "<script>alert") || strings.Contains(body, "\x1b") {
		t.Errorf("a label is not escaped: %s", body)
	}
	for layers, want := range map[int]string{
		1: "1 of 1 layers already there.", 2: "2 of 2 layers already there.",
	} {
		same := sdk.ImageConfig{Size: 1 << 20, Layers: after.Layers[:layers]}
		fakes(u).diff.Diff = imagediff.Compare(same, same)
		webtest.Contains(t, request(u, "GET", "/containers/local/web/diff", nil).Body.String(), want)
	}
	webtest.Contains(t, request(u, "GET", "/containers/local/web?tab=versions", nil).Body.String(), `href="/base/containers/local/web/diff"`)
	fakes(u).planning = fmt.Errorf("it was built here: %w", sdk.ErrUnsupported)
	webtest.Contains(t, request(u, "GET", "/containers/local/web/diff", nil).Body.String(),
		"The images of web cannot be compared", "it was built here")
}
