package web

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestPagesShowLinesToPaste: where updating is not allowed, the page of the container and that of its plan
// have the lines that allow it, and the link, as texts.
func TestPagesShowLinesToPaste(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	f := fakes(u).fakeOperations
	lines := config.Lines{Where: "At the end of " + webtest.Evil, Text: "watcher.docker.local.update: true\n" + webtest.Evil}
	paste := config.Paste{Lines: []config.Lines{lines}, Docs: config.Docs("updating.md#allow-it")}
	forbidden := &updater.ForbiddenError{Watcher: "local", Why: "it is not set", Remedy: "set it", Paste: paste}
	wanted := []string{
		`<pre data-copy tabindex="0">watcher.docker.local.update: true`, "At the end of &#34;&gt;&lt;script",
		`href="https://github.com/dogwatch/dogwatch/blob/main/docs/updating.md#allow-it"`,
	}
	show := func(path string) {
		t.Helper()
		body := request(u, "GET", path, nil).Body.String()
		webtest.Contains(t, body, wanted...)
		webtest.MustBeInert(t, body)
	}
	f.plan, f.permission = fullPlan(), service.Permission{Why: "it is not set", Remedy: "set it", Paste: paste}
	show("/containers/local/web")
	show("/containers/local/web/update") // of a user who may not
	f.planning = fmt.Errorf("local/web: %w", forbidden)
	show("/containers/local/web/update") // of a watcher that may not
	f.permission, f.planning = service.Permission{Allowed: true}, nil
	f.starting = sdk.WithKind(service.ErrForbidden, forbidden)
	w := request(u, "POST", "/containers/local/web/update", nil)
	if w.Code != http.StatusForbidden {
		t.Errorf("status %d", w.Code)
	}
	webtest.Contains(t, w.Body.String(), wanted...)

	f.plan.Blocks = []watcher.Reason{{Code: "engine.readonly", Text: "the proxy takes no changes"}}
	body := request(u, "GET", "/containers/local/web/update", nil).Body.String()
	webtest.Contains(t, body, "the proxy takes no changes", "POST: 1", "updating.md#socket-proxy")
}
