package components

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// maxTestTime is how long a page waits for the test of a component.
const maxTestTime = 45 * time.Second

// test runs a test of a component and renders the result, or redirects to
// the page that shows it.
func (h *Handler) test(w http.ResponseWriter, r *http.Request, k kind.Kind) {
	c, known := h.component(w, r, k)
	if !known {
		return
	}
	image := ""
	if k == kind.Registry {
		image = r.PostFormValue("image")
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTestTime)
	defer cancel()
	result, err := h.service.Test(ctx, h.ActorOf(r), k, c.Type, c.Name, image)
	if errors.Is(err, service.ErrNotFound) { // removed in between
		h.component(w, r, k)
		return
	}
	view := newTestView(c, result, err)
	if page.Partial(r) {
		h.Fragment(w, r, "component", "test-result", componentPage{Test: view})
		return
	}
	h.testResults.keep(c.Key(), testResult{ended: h.Now(), image: image, view: view})
	http.Redirect(w, r, h.Path(page.ComponentPath(c)+"?tested#test-result"), http.StatusSeeOther)
}
