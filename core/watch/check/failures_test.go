package check

import (
	"strings"
	"testing"
)

// TestWrongLabelIsLoggedOnce: a label that is wrong, while the check goes well, is logged when it becomes so.
func TestWrongLabelIsLoggedOnce(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0"}
	wrong := container("web", "nginx:1.25.0", "dogwatch.link.template=https://example.org/${container.name.nonsense()}")
	w.engine.has(wrong)
	const said = "a label of a container is wrong"
	for range 3 {
		if report := w.run(); report.Failed != 1 {
			t.Errorf("%d failed", report.Failed)
		}
	}
	if n := strings.Count(w.log.String(), said); n != 1 {
		t.Errorf("logged %d times: %s", n, w.log)
	}
	w.engine.has(container("web", "nginx:1.25.0"))
	if report := w.run(); report.Failed != 0 {
		t.Errorf("%d failed without the label", report.Failed)
	}
	w.engine.has(wrong)
	w.run()
	if n := strings.Count(w.log.String(), said); n != 2 {
		t.Errorf("logged %d times after it became wrong again: %s", n, w.log)
	}
}
