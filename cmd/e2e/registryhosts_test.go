package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// TestRegistryTestRefusesForeignHosts: a token may test registries at hosts that
// containers use or that the configuration names, a logged-in user at any.
func TestRegistryTestRefusesForeignHosts(t *testing.T) {
	t.Parallel()
	const password = "a-password-of-the-test"
	f := newFleet(t, 1, registrysim.Options{})
	var requests atomic.Int32
	listen := func() (host string) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			http.NotFound(w, nil)
		}))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	foreign, named := listen(), listen()
	env := []string{"DOGWATCH_AUTH_BASIC_ANA_USER=ana", "DOGWATCH_AUTH_BASIC_ANA_HASH=" + password,
		"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://" + named}
	for _, e := range f.env() {
		if !strings.Contains(e, "REGISTRY") { // so that the one for all hosts serves the fleet's
			env = append(env, e)
		}
	}
	locked := install(t, env...).start()
	open := install(t, "DOGWATCH_WATCHER_DOCKER_MAIN_HOST=127.0.0.1", "DOGWATCH_WATCHER_DOCKER_MAIN_PORT=1").start()
	ana := basicOf("ana", password)
	write := locked.tokenOf(ana, "write")
	eventually(t, "the container is known", func() bool {
		_, said := locked.as(ana, "GET", "/api/containers", "")
		return strings.Contains(said, f.hosts[0])
	})
	for _, test := range []struct {
		name, header string
		d            *daemon
		registry     string
		host         string
		allowed      bool
	}{
		{"write token, unknown host", write, locked, "oci/public", foreign, false},
		{"write token, closed port", write, locked, "oci/public", "127.0.0.1:1", false},
		{"write token, host of a container", write, locked, "oci/public", f.hosts[0], true},
		{"write token, configured host", write, locked, "custom/lan", named, true},
		{"logged in, unknown host", ana, locked, "oci/public", foreign, true},
		{"no login configured, unknown host", "", open, "oci/public", foreign, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var status int
			var said string
			eventually(t, "the registry is ready", func() bool {
				requests.Store(0)
				status, said = test.d.as(test.header, "POST", "/api/registries/"+test.registry+"/test",
					fmt.Sprintf(`{"image":"%s/team/app0000:1.0.0"}`, test.host))
				return !strings.Contains(said, "starting")
			})
			if denied := status == http.StatusForbidden; denied == test.allowed {
				t.Errorf("status %d: %s", status, said)
			}
			if !test.allowed && (requests.Load() > 0 || !strings.Contains(said, "no container uses this host")) {
				t.Errorf("%d requests, answer %s", requests.Load(), said)
			}
			if test.host == f.hosts[0] && status != http.StatusOK {
				t.Errorf("the registry of a container: %d %s", status, said)
			}
			page := test.d.form(test.header, "/registries/"+test.registry+"/test", url.Values{
				"image": {test.host + "/team/app0000:1.0.0"},
			})
			if denied := strings.Contains(page, "no container uses this host"); denied == test.allowed {
				t.Errorf("the page says: %s", page)
			}
		})
	}
}
