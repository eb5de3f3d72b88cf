package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func lampType() kind.Type {
	port := "8080"
	return kind.Type{Kind: kind.Trigger, Name: "lamp", Summary: "Switches a lamp", Options: option.Schema{
		{Name: "url", Type: option.URL, Required: true, Help: "Where it is"},
		{Name: "port", Type: option.Int, Default: &port, Help: "Port"},
		{Name: "token", Type: option.String, Secret: true, Required: true, Help: "Access token"},
		{Name: "pin", Type: option.String, Secret: true, Help: "Another secret"},
		{Name: "colour", Type: option.String, Choices: []string{"red", "green"}, Help: "Colour"},
		{Name: "tls.verify", Type: option.Bool, Help: "Verify"},
	}}
}

func TestTypeFormLeadsToConfiguration(t *testing.T) {
	b := webtest.PluginIn("trigger-lamp", plugin.Running)
	b.Types = []plugin.TypeName{{Kind: kind.Trigger, Type: "lamp"}}
	u := withFakes(t, func(f *fakeService) {
		f.fakePlugins = fakePlugins{all: []service.Plugin{b}, types: []kind.Type{lampType()}}
	})
	status, body := get(t, u, "/plugins/types/trigger/lamp")
	if status != http.StatusOK || strings.Contains(body, `id="result"`) {
		t.Errorf("status %d; the empty form has a result: %v", status, strings.Contains(body, `id="result"`))
	}
	webtest.Contains(t, body, "Switches a lamp", `name="o.url"`, `placeholder="8080"`, "<option>green</option>",
		`<option value="">not set</option>`, `name="o.pin" value="secret"`, `href="/base/plugins#trigger-lamp"`,
		`name="o.threshold"`, `method="get"`)
	if strings.Contains(body, `name="o.token"`) {
		t.Error("a required secret has a field")
	}

	form := url.Values{
		"name": {"Hall"}, "o.url": {"http://ann:hunter2@lamp/"}, "o.colour": {"red"}, "o.tls.verify": {"false"},
		"o.pin": {"hunter2"}, "o.token": {"hunter2"}, "o.mode": {"batch"}, "o.unknown": {"x"},
	}
	w := httptest.NewRecorder()
	u.ServeHTTP(w, asOperator(httptest.NewRequest(http.MethodGet, "/plugins/types/trigger/lamp?"+form.Encode(), nil)))
	clean := strings.TrimPrefix(w.Header().Get("Location"), "/base")
	if w.Code != http.StatusSeeOther || strings.Contains(w.Body.String()+clean, "hunter2") ||
		!strings.Contains(clean, "o.url="+url.QueryEscape("http://lamp/")) {
		t.Errorf("status %d for an address with secrets, which leads to %s:\n%s", w.Code, clean, w.Body)
	}
	status, body = get(t, u, clean)
	if status != http.StatusOK {
		t.Errorf("status %d for an address without secrets", status)
	}
	webtest.Contains(t, body, "DOGWATCH_TRIGGER_LAMP_HALL_URL=http://lamp/\n", "DOGWATCH_TRIGGER_LAMP_HALL_COLOUR=red\n",
		"DOGWATCH_TRIGGER_LAMP_HALL_TOKEN__FILE=/run/secrets/", "DOGWATCH_TRIGGER_LAMP_HALL_PIN__FILE=/run/secrets/",
		"DOGWATCH_TRIGGER_LAMP_HALL_MODE=batch\n", "colour: red", "<option selected>red</option>")
	if strings.Contains(body, "hunter2") || strings.Contains(body, "would not be accepted") ||
		strings.Contains(body, "UNKNOWN") {
		t.Errorf("a secret is shown, or a good value refused:\n%s", body)
	}

	form = url.Values{"name": {"no_name"}, "o.port": {"many"}}
	_, body = get(t, u, "/plugins/types/trigger/lamp?"+form.Encode())
	webtest.Contains(t, body, "want letters, digits and -", `aria-invalid="true"`)
	if strings.Contains(body, `id="result"`) {
		t.Error("there is a result without a name")
	}
	_, body = get(t, u, "/plugins/types/trigger/lamp?name=main")
	webtest.Contains(t, body, "1 value would not be accepted", "DOGWATCH_TRIGGER_LAMP_MAIN_TOKEN__FILE")

	if status, _ := get(t, u, "/plugins/types/trigger/torch"); status != http.StatusNotFound {
		t.Errorf("an unknown type: status %d", status)
	}
}

func TestPluginPageSaysWhatHolds(t *testing.T) {
	b := webtest.PluginIn("mine", plugin.Broken)
	b.Requested, b.Grants = []string{"credentials", "engine"}, []string{"engine"}
	b.Output = []string{"Traceback", "ImportError: <grpc>"}
	b.Isolation = &plugin.Isolated{
		Holds: []string{"files (Landlock, version 7)"}, Lacks: []string{"system calls: kernel without seccomp filters"},
		Paths: []string{"/var/log/updates"},
	}
	u := withFakes(t, func(f *fakeService) { f.fakePlugins = fakePlugins{all: []service.Plugin{b}} })
	_, body := get(t, u, "/plugins")
	webtest.Contains(t, body, "Traceback\nImportError: &lt;grpc&gt;", "credentials, engine", "<code>mine=credentials</code>",
		"files (Landlock, version 7)", "kernel without seccomp filters", "/var/log/updates")
	if strings.Contains(body, "<code>mine=engine</code>") {
		t.Error("what is granted is asked for")
	}
}

func (f fakePlugins) Types(k kind.Kind) (all []kind.Type) {
	for _, t := range f.types {
		if t.Kind == k {
			all = append(all, t)
		}
	}
	return all
}
