package web

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestRowShowsStatus: a container that does not run looks so, in words and not by colour alone.
func TestRowShowsStatus(t *testing.T) {
	with := func(status string) func(*sdk.Container) { return func(c *sdk.Container) { c.Status = status } }
	u, _ := withStore(t, a("up", with("running")), a("resting", with("paused")), a("gone", with("exited")), a("unknown", with("")))
	body := request(u, "GET", "/containers", nil).Body.String()
	for text, want := range map[string]int{
		`<span class="status paused">paused</span>`: 1, `<span class="status exited">exited</span>`: 1, `<span class="status `: 2,
		`<select name="status"`: 1, `<option value="exited">exited</option>`: 1, `<option value="running">running</option>`: 1,
	} {
		if got := strings.Count(body, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
	body = request(u, "GET", "/containers?status=paused", nil).Body.String()
	if !strings.Contains(body, `data-key="local/resting"`) || strings.Count(body, `<li class="row"`) != 1 || !strings.Contains(body, `<option value="paused" selected>`) {
		t.Errorf("of those that are paused are shown:\n%s", body)
	}
}

// TestRowCutsLongVersionsInTheMiddle: where there is no room for a version it loses its middle.
func TestRowCutsLongVersionsInTheMiddle(t *testing.T) {
	u, _ := withStore(t, a("long", func(c *sdk.Container) { c.Image.Tag.Value = "5.14.0-nightly.20241121.amd64" }), a("short"))
	body := request(u, "GET", "/containers", nil).Body.String()
	want := `<span class="tag"><span class="cut" title="5.14.0-nightly.20241121.amd64"><span>5.14.0-nightly.202411</span><span>21.amd64</span></span></span>`
	if !strings.Contains(body, want) || strings.Count(body, `class="cut"`) != 1 {
		t.Errorf("the page has not %s:\n%s", want, body)
	}
}
