package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestRegistryNotifiesOfAPush: a real registry says that an image was pushed, and the
// container that runs it has its result within two seconds; no other is checked.
func TestRegistryNotifiesOfAPush(t *testing.T) {
	t.Parallel()
	const secret = "the-secret-of-this-registry"
	var target atomic.Pointer[string] // Dogwatch starts after the registry, whose configuration has the address
	forward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := target.Load()
		if to == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, *to+r.URL.Path, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header, req.Host = r.Header, "dogwatch.lan"
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer forward.Close()
	engine := dockertest.Start(t)
	registry := startRegistry(t,
		fmt.Sprintf("notifications:\n  endpoints:\n  - {name: dogwatch, url: %q, headers: {Authorization: [Bearer %s]}, timeout: 2s, threshold: 50, backoff: 100ms}\n", forward.URL+"/api/webhooks/lab", secret))
	for _, name := range []string{"player", "clock"} {
		ref := registry + "/media/" + name + ":1.0.0"
		engine.Image(t, ref)
		engine.Push(t, ref)
		engine.Pull(t, ref)
		engine.Run(t, name, ref, nil)
	}
	in := install(t,
		"WUD_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"), "WUD_WATCHER_LOCAL_CRON=0 0 1 1 *",
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry, "DOGWATCH_WEBHOOKS_SECRETS=lab="+secret)
	d := in.start()
	defer d.stop()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	target.Store(&d.url)

	for _, tag := range []string{"1.1.0", "1.2.0"} {
		ref := registry + "/media/player:" + tag
		engine.Image(t, ref, "LABEL version="+tag)
		engine.Push(t, ref)
		pushed := time.Now()
		eventually(t, tag+" is offered", func() bool {
			c := named(t, d.containers(), "player")
			return c.UpdateAvailable && c.Result.Tag == tag
		})
		t.Logf("%s is offered %v after its push", tag, time.Since(pushed))
	}
	hooks := get[[]webhook.Status](d, http.MethodGet, "/api/webhooks")
	for _, r := range hooks[0].Recent {
		if want := map[string]string{
			registry + "/media/player": "local/player", registry + "/media/clock": "local/clock",
		}; r.State == webhook.Checked && (len(r.Images) != 1 || !slices.Equal(r.Containers, []string{want[r.Images[0]]})) {
			t.Errorf("a delivery of %v has %v checked", r.Images, r.Containers)
		}
	}
	if n := len(hooks[0].Recent); n == 0 || hooks[0].Recent[0].Format != "distribution" {
		t.Errorf("%d deliveries: %+v", n, hooks[0].Recent)
	}

	// What has no secret is refused, and the command line knows it.
	resp, err := http.Post(d.url+"/api/webhooks/lab", "application/json",
		strings.NewReader(`{"image":"`+registry+`/media/clock"}`))
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the secret: %s", resp.Status)
	}
	at, err := url.Parse(d.url)
	must(t, err)
	cli := *in
	cli.env = append(slices.Clone(cli.env), "DOGWATCH_SERVER_PORT="+at.Port())
	for image, want := range map[string]int{registry + "/media/clock": 0, "nginx": 1} {
		if out, problems, code := cli.run("webhook", "test", "lab", "--image", image); code != want {
			t.Errorf("webhook test of %s: exit code %d, want %d: %s%s", image, code, want, out, problems)
		} else if code == 0 && !strings.Contains(out, "local/clock") {
			t.Errorf("webhook test says %q", out)
		}
	}
	if out, problems, code := cli.run("webhook", "test", "lap", "--image", "nginx"); code == 0 ||
		!strings.Contains(problems, "did you mean lab?") {
		t.Errorf("a mistyped name: exit code %d: %s%s", code, out, problems)
	}

	// CI waits for the result.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/api/webhooks/lab/check",
		strings.NewReader(`{"container":"player"}`))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err = http.DefaultClient.Do(req)
	must(t, err)
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"offered":"1.2.0"`) {
		t.Errorf("check for CI: %s: %s", resp.Status, body)
	}
}
