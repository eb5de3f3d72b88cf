package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestActionForm(t *testing.T) {
	u, checked := withStore(t, webtest.Container("one"), webtest.Container("two", webtest.Newer("2.0.0", "major")))
	act := func(form url.Values, headers ...string) *httptest.ResponseRecorder {
		return request(u, "POST", "/containers/act", form, headers...)
	}
	if w := act(url.Values{
		"do": {"check"}, "c": {"local/one", "local/one", "local/two", "local/gone"}, "back": {"/containers?q=x"},
	}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/base/containers?q=x" {
		t.Fatalf("%d %s", w.Code, w.Header().Get("Location"))
	}
	got := []string{<-checked, <-checked}
	slices.Sort(got)
	if !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("checked %q", got)
	}
	if w := act(url.Values{"do": {"check-all"}}, "HX-Request", "true"); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), `id="work"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := <-checked; got != "all" {
		t.Errorf("checked %q", got)
	}
	for want, form := range map[int]url.Values{
		http.StatusUnprocessableEntity:   {"do": {"check"}, "c": {"local/gone"}},
		http.StatusRequestEntityTooLarge: {"do": {"check"}, "c": {strings.Repeat("x", page.MaxForm)}},
	} {
		if w := act(form); w.Code != want {
			t.Errorf("%d, want %d: %s", w.Code, want, w.Body)
		}
	}
	for _, form := range []url.Values{{}, {"do": {"dance"}, "c": {"local/one"}}, {
		"do": {"run"}, "c": {"local/one"}, "trigger": {webtest.Evil},
	}} {
		if w := act(form); w.Code != http.StatusUnprocessableEntity || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%v: %d %s", form, w.Code, w.Body)
		}
	}
	refused := act(url.Values{"do": {"check"}}, "HX-Request", "true", "HX-Target", "section#work")
	if !strings.Contains(refused.Body.String(), `id="work"`) ||
		!strings.Contains(refused.Body.String(), "Nothing was chosen") {
		t.Errorf("htmx is told %s", refused.Body)
	}
}

// TestConfirmRunOfTrigger is the question before a trigger that may change containers.
func TestConfirmRunOfTrigger(t *testing.T) {
	u, _ := withStore(t, webtest.Container("one"),
		webtest.Container("two", func(c *sdk.Container) { c.DisplayName = webtest.Evil }))
	trigger := webtest.Configured(kind.Trigger, "mock", "main", component.Ready)
	trigger.ID, trigger.Usable, trigger.Acts = webtest.Evil, true, true
	fakes(u).fakeComponents = fakeComponents{all: []service.Component{trigger}}
	w := request(u, "POST", "/containers/act", url.Values{
		"do": {"run"}, "trigger": {webtest.Evil}, "c": {"local/one", "local/two"},
	})
	body := w.Body.String()
	webtest.Contains(t, body, "for 2 containers?", `name="c" value="local/one"`, `name="c" value="local/two"`,
		`name="sure" value="1"`, `action="/base/containers/act"`)
	webtest.MustBeInert(t, body)
}
