package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestPullSecrets: the update of a private image is found with the secret that its workload pulls it with, that of
// another workload, which has none, is not, and the secret is neither stored nor logged.
func TestPullSecrets(t *testing.T) {
	t.Parallel()
	registry := registrysim.New(registrysim.Options{
		Auth: registrysim.Basic, Users: map[string]string{"ana": "s3cret-of-ana"}, Private: func(string) bool { return true },
	})
	registry.Push("team/app", "1.0.0")
	registry.Push("team/app", "1.1.0")
	sim := httptest.NewServer(registry)
	t.Cleanup(sim.Close)
	at, err := url.Parse(sim.URL)
	must(t, err)
	workload := func(name, spec string) string {
		return fmt.Sprintf(`{"metadata": {"namespace": "media", "name": %q}, "spec": {"template": {"spec": {%s
			"containers": [{"name": %[1]q, "image": "%[3]s/team/app:1.0.0"}]}}}}`, name, spec, at.Host)
	}
	config := fmt.Sprintf(`{"auths": {%q: {"username": "ana", "password": "s3cret-of-ana"}}}`, at.Host)
	objects := map[string]string{
		"/apis/apps/v1/deployments": `{"metadata": {"resourceVersion": "1"}, "items": [` +
			workload("with", `"imagePullSecrets": [{"name": "regcred"}],`) + "," + workload("without", "") + "]}",
		"/api/v1/namespaces/media/serviceaccounts/default": `{}`,
		"/api/v1/namespaces/media/secrets/regcred": fmt.Sprintf(
			`{"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": %q}}`,
			base64.StdEncoding.EncodeToString([]byte(config))),
	}
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := objects[r.URL.Path]
		switch {
		case r.FormValue("watch") == "true":
			w.WriteHeader(http.StatusServiceUnavailable)
		case text == "":
			text = `{"metadata": {"resourceVersion": "1"}, "items": []}`
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(cluster.Close)
	in := install(t, "DOGWATCH_WATCHER_KUBERNETES_HOME_SERVER="+cluster.URL, "DOGWATCH_LOG_LEVEL=trace",
		"DOGWATCH_WATCHER_KUBERNETES_HOME_PULLSECRETS=true", "DOGWATCH_REGISTRY_CUSTOM_SIM_URL="+sim.URL)
	d := in.start()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	found := map[string]sdk.Container{}
	for _, c := range d.containers() {
		found[c.Name] = c
	}
	if c := found["media_with"]; !c.UpdateAvailable || c.Result == nil || c.Result.Tag != "1.1.0" {
		t.Errorf("with its secret: %+v, %v", c.Result, c.Error)
	}
	if c := found["media_without"]; c.UpdateAvailable || c.Error == nil || !strings.Contains(c.Error.Message, "401") {
		t.Errorf("without a secret: %+v, %v", c.Result, c.Error)
	}
	_, page := d.request(http.MethodGet, "/api/containers", "")
	d.stop()
	kept := string(page)
	files, err := filepath.Glob(filepath.Join(in.store, "*"))
	must(t, err)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			kept += string(text)
		}
	}
	for _, secret := range []string{"s3cret-of-ana", base64.StdEncoding.EncodeToString([]byte("ana:s3cret-of-ana"))} {
		if strings.Contains(kept, secret) || d.says(secret) {
			t.Errorf("%s is stored, logged or shown", secret)
		}
	}
	if !strings.Contains(kept, "media_with") {
		t.Error("nothing is stored")
	}
}
