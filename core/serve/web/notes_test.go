package web

import (
	"context"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

func (f fakeContainers) HasNotes() bool { return !f.noNotes }

func (f fakeContainers) Notes(context.Context, sdk.Container) notes.Notes {
	return notes.Notes{Repository: "https://github.com/a/b", Incomplete: true, Notes: []notes.Note{
		{
			Version: "v2.0.0", Date: sdk.Time{Time: webtest.Noon}, URL: "https://github.com/a/b/releases/tag/v2.0.0",
			Body: "## Breaking changes\n\n- gone " + webtest.Evil, Breaking: []string{"gone " + webtest.Evil},
		},
		{Version: webtest.Evil, URL: "javascript:alert(1)", Body: webtest.Evil},
	}}
}

func TestReleaseNotes(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")))
	page := request(u, "GET", "/containers/local/web/notes", nil, "HX-Request", "true").Body.String()
	webtest.Contains(t, page, "v2.0.0", "breaking", "<h3>Breaking changes</h3>",
		`href="https://github.com/a/b/releases/tag/v2.0.0"`, "There may be older ones")
	for _, never := range []string{webtest.Evil, "javascript:"} {
		if strings.Contains(page, never) {
			t.Errorf("the notes hold %q:\n%s", never, page)
		}
	}
}

// TestReleaseNotesSwitchedOff: a page has the section where there is an update and notes are read.
func TestReleaseNotesSwitchedOff(t *testing.T) {
	u, _ := withStore(t, webtest.Container("web", webtest.Newer("1.1.0", "minor")), webtest.Container("db"))
	for path, want := range map[string][2]bool{
		"/containers/local/web": {true, false}, "/containers/local/db": {false, false},
	} {
		for i, off := range []bool{false, true} {
			fakes(u).noNotes = off
			if got := strings.Contains(request(u, "GET", path, nil).Body.String(), `id="notes"`); got != want[i] {
				t.Errorf("%s, switched off %t: the section is there: %t", path, off, got)
			}
		}
	}
}
