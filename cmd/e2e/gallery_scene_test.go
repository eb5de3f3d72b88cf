package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

// actsPlugin compiles the plugin whose trigger may change containers.
var actsPlugin = sync.OnceValues(func() (string, error) {
	return build(filepath.Join("testdata", "acts"), "trigger-acts")
})

// The registries of the gallery, by their place in its fleet.
const (
	galleryHub = iota
	galleryLocked
	gallerySlow
)

// galleryApps are the containers of the gallery: each in a state of its own, and
// with names, tags and labels as long as they get.
var galleryApps = []struct {
	name, stack string
	registry    int
	repo        string
	running     string
	newer       string
	labels      map[string]string
}{
	{"jellyfin", "media", galleryHub, "jellyfin/jellyfin", "10.9.11", "11.0.0", map[string]string{
		"dogwatch.link.template": "https://example.org/jellyfin/${raw}",
	}},
	{"sonarr", "media", galleryHub, "linuxserver/sonarr", "4.0.9", "4.1.0", map[string]string{
		"dogwatch.link.template": "https://example.org/sonarr/${raw}", "dogwatch.tag.include": `^\d+\.\d+\.\d+$`,
	}},
	{"radarr-with-a-name-that-somebody-generated-0123456789abcdef-and-nobody-reads", "media", galleryHub,
		"some-organisation/with-a-long-name/radarr-nightly-builds", "5.14.0-nightly.20241121.amd64-gdeadbeefcafe",
		"5.14.1-nightly.20241121.amd64-gdeadbeefcafe",
		map[string]string{"org.example.a-label-with-a-long-name.and-more": strings.Repeat("value-without-a-space", 12)}},
	{"cache", "shop", galleryHub, "library/redis", "7.4.1", "7.4.2", nil},
	{"worker", "shop", galleryHub, "shop/worker", "edge", "edge", map[string]string{"dogwatch.watch.digest": "true"}},
	{"frontend", "shop", galleryHub, "shop/frontend", "3.1.0", "", nil},
	{"database", "shop", galleryHub, "library/postgres", "16.4", "", map[string]string{"dogwatch.tag.include": `^16\.(`}},
	{"unifi", "", galleryLocked, "unifi/controller", "8.5.6", "", nil},
	{"home-assistant", "", galleryHub, "home-assistant/home-assistant", "2024.9.3", "2024.11.2", nil},
	{"proxy", "", galleryHub, "library/nginx", "latest", "", nil},
	{"dns", "", galleryHub, "adguard/adguardhome", "v0.107.53", "", nil},
	{"passwords", "", galleryHub, "vaultwarden/server", "1.32.3", "", nil},
}

// unchecked is a container without a check: its registry does not answer.
const unchecked = "newcomer"

// galleryFleet runs the containers of the gallery, with the sources that some of them name.
func galleryFleet(t testing.TB, sources map[string]string) *fleet {
	t.Helper()
	f := newFleet(t, 0, registrysim.Options{Config: galleryConfig}, registrysim.Options{
		Auth: registrysim.Basic, Users: map[string]string{"ana": "x"}, Private: func(string) bool { return true },
	}, registrysim.Options{})
	for _, a := range galleryApps {
		f.registries[a.registry].Push(a.repo, a.running)
		labels := maps.Clone(a.labels)
		if source := sources[a.name]; source != "" {
			if labels == nil {
				labels = map[string]string{}
			}
			labels["org.opencontainers.image.source"] = source
		}
		f.run(t, a.name, a.registry, a.repo, a.running, a.stack, labels)
		if a.newer != "" {
			f.registries[a.registry].Push(a.repo, a.newer)
		}
	}
	return f
}

// galleryConfig is what the images set: those of sonarr differ in everything that can.
func galleryConfig(repo string, revision int) map[string]any {
	if repo != "linuxserver/sonarr" {
		return map[string]any{}
	}
	if revision%2 == sonarrRuns {
		return map[string]any{
			"User": "abc", "Env": []string{"PATH=/usr/local/bin:/usr/bin", "HOME=/root", "SONARR_BRANCH=main"},
			"Cmd": []string{"/init"}, "WorkingDir": "/app",
			"ExposedPorts": map[string]any{"8989/tcp": struct{}{}}, "Volumes": map[string]any{"/config": struct{}{}},
			"StopSignal": "SIGTERM",
			"Labels": map[string]string{
				"build_version": "Linuxserver.io version:- 4.0.9.2244-ls253 Build-date:- 2026-09-11T05:12:33+00:00",
				"maintainer":    "thespad",
			},
		}
	}
	return map[string]any{
		"User":       "",
		"Env":        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/sonarr/with/a/long/path/that/does/not/fit/a/phone", "SONARR_BRANCH=develop", "XDG_CONFIG_HOME=/config/xdg"},
		"Entrypoint": []string{"/init"}, "Cmd": []string{"sonarr", "--nobrowser", "--data=/config"},
		"WorkingDir":   "/app/sonarr",
		"ExposedPorts": map[string]any{"9898/tcp": struct{}{}},
		"Volumes":      map[string]any{"/config": struct{}{}, "/data": struct{}{}}, "StopSignal": "SIGINT",
		"Healthcheck": map[string]any{"Test": []string{"CMD-SHELL", "curl -fsS http://localhost:9898/ping || exit 1"}},
		"Labels": map[string]string{
			"build_version": "Linuxserver.io version:- 4.1.0.2301-ls260 Build-date:- 2026-11-20T05:12:33+00:00",
		},
	}
}

// sonarrRuns is the parity of the revision of sonarr's image that runs.
const sonarrRuns = 1

// run creates a container of an image that a registry has.
func (f *fleet) run(t testing.TB, name string, registry int, repo, tag, stack string, labels map[string]string) {
	t.Helper()
	prefix := f.hosts[registry] + "/"
	if registry == galleryHub {
		prefix = "" // the configuration sends what is for Docker Hub to it
	}
	repository := prefix + strings.TrimPrefix(repo, "library/")
	image, _ := f.registries[registry].Image(repo, tag)
	ours := image.Platforms[0]
	f.engine.AddImage(enginesim.Image{
		ID: ours.Config, Tags: []string{repository + ":" + tag}, Digests: []string{repository + "@" + image.Digest},
		Created: ours.Created,
	})
	all := map[string]string{}
	if stack != "" {
		all["com.docker.compose.project"] = stack
	}
	for name, value := range labels {
		all[name] = value
	}
	_, err := f.engine.Create(enginesim.Container{Name: name, Image: repository + ":" + tag, Labels: all})
	must(t, err)
}

// houses are the installations of the gallery.
type houses struct {
	// none has no engine, empty no container, five nothing to do and no trigger,
	// twelve a bit of everything, many 500 containers, and locked asks for a login.
	none, empty, five, twelve, many, locked *daemon
}

func openHouses(t *testing.T) houses {
	t.Helper()
	var h houses
	changed, mistaken := configured(t, "policies: { slow: { minage: 3d } }\n"), configured(t, "")
	h.none = install(t, "DOGWATCH_WATCHER_DOCKER_LOCAL_SOCKET=/var/run/nobody-made-this.sock",
		"DOGWATCH_CONFIG="+changed).start()
	h.empty = install(t, newFleet(t, 0, registrysim.Options{}).env()...).start()
	h.five = install(t, append(newFleet(t, 5, registrysim.Options{}).env(), "DOGWATCH_CONFIG="+mistaken)...).start()
	must(t,
		os.WriteFile(changed,
			[]byte("policies: { slow: { minage: 7d } }\ntrigger: { ntfy: { phone: { topic: updates } } }\n"), 0o600))
	must(t, os.WriteFile(mistaken, []byte("trigger: { ntfy: { phone: { topik: updates } } }\n"), 0o600))
	h.five.waitFor(5)

	crowd := newFleet(t, 500, registrysim.Options{})
	for i := 0; i < 500; i += 10 {
		crowd.registry(i).Push(crowd.repo(i), []string{"2.0.0", "1.1.0", "1.0.1"}[i/10%3])
	}
	h.many = install(t, crowd.env()...).start()
	h.many.waitFor(500)

	noted, sources := galleryNotes(t)
	f := galleryFleet(t, sources)
	must(t, f.engine.Pause("passwords"))
	must(t, f.engine.Stop("dns"))
	env := append(galleryEnv(t, f), "DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHALL=true",
		"DOGWATCH_WEBHOOKS_SECRETS=ghcr=secret-of-the-gallery,lab=another-secret-of-it",
		"DOGWATCH_WEBHOOKS_HOSTS=lab=localhost:5000")
	env = append(append(env, noted...), galleryScanner(t, f))
	twelve := install(t, env...)
	galleryPast(t, twelve)
	h.twelve = twelve.start()
	h.twelve.waitFor(len(galleryApps))
	h.twelve.settled()
	for _, body := range []string{`{"image":"nobody/runs-this"}`,
		`{"push_data":{},"repository":{"repo_name":"nobody/runs-this-either"}}`, `{`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.twelve.url+"/api/webhooks/ghcr",
			strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", "Bearer secret-of-the-gallery")
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		resp.Body.Close()
	}
	h.locked = lock(t, env)
	f.registries[gallerySlow].Inject(registrysim.Any, -1, registrysim.Stall(maxWait))
	f.registries[gallerySlow].Push("late/newcomer", "1.0.0")
	f.run(t, unchecked, gallerySlow, "late/newcomer", "1.0.0", "", nil)
	eventually(t, "the newcomer is seen", func() bool { return len(h.twelve.containers()) > len(galleryApps) })
	return h
}

// galleryEnv is the configuration that watches the fleet of the gallery: with a
// trigger that works, one that is refused, one that is wrong and one that acts.
func galleryEnv(t *testing.T, f *fleet) []string {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/refuse") {
			http.Error(w, "who are you", http.StatusUnauthorized)
		}
	}))
	t.Cleanup(hook.Close)
	return append(f.env(), "DOGWATCH_REGISTRY_HUB_PUBLIC_MIRROR=http://"+f.hosts[galleryHub],
		"DOGWATCH_TRIGGER_HTTP_HOOK_URL="+hook.URL, "DOGWATCH_TRIGGER_HTTP_HOOK_AUTO=false",
		"DOGWATCH_TRIGGER_HTTP_REFUSED_URL="+hook.URL+"/refuse", "DOGWATCH_TRIGGER_NTFY_WRONG_TOPIK=typo",
		"DOGWATCH_TRIGGER_ACTS_MAIN_NOTE=careful", "DOGWATCH_TRIGGER_ACTS_MAIN_AUTO=false",
		"DOGWATCH_PLUGINS_GRANTS=trigger-acts=engine", "DOGWATCH_PLUGINS_DIR="+galleryPlugins(t))
}

// The user of an installation that asks for a login.
const (
	lockUser     = "ana"
	lockPassword = "correct horse"
)

// lock starts an installation that asks for a login.
func lock(t *testing.T, env []string) *daemon {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(lockPassword), bcrypt.MinCost)
	must(t, err)
	return install(t,
		append(env, "DOGWATCH_AUTH_BASIC_ANA_USER="+lockUser, "DOGWATCH_AUTH_BASIC_ANA_HASH="+string(hash))...).start()
}

// login fills in the login page, which is open, and waits for what comes of it.
func (b *tab) login(password, then string) {
	b.t.Helper()
	b.click("input[name=user]")
	b.press(lockUser)
	b.click("input[type=password]")
	b.press(password + "\r")
	b.until("document.querySelector(" + quoted(then) + ")")
}

// waitFor waits until n containers have been checked.
func (d *daemon) waitFor(n int) {
	d.t.Helper()
	eventually(d.t, fmt.Sprintf("%d containers are checked", n), func() bool {
		all := d.containers()
		for _, c := range all {
			if c.Check.State == sdk.CheckNever || c.Check.State == "" {
				return false
			}
		}
		return len(all) >= n
	})
}

// configured writes the file of a configuration.
func configured(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dogwatch.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// galleryPlugins is a folder with a plugin that runs and one that may not.
func galleryPlugins(t *testing.T) string {
	t.Helper()
	dir := shortDir(t)
	compiled, err := actsPlugin()
	must(t, err)
	copyFile(t, compiled, filepath.Join(dir, "trigger-acts"))
	copyFile(t, compiled, filepath.Join(dir, "trigger-open-to-others"))
	must(t, os.Chmod(filepath.Join(dir, "trigger-open-to-others"), 0o777))
	// One was installed, and has a newer version, which is known since an hour ago.
	must(t,
		os.WriteFile(filepath.Join(dir, ".installed.json"),
			fmt.Appendf(nil, `{"trigger-acts": {"ref": "ghcr.io/me/trigger-acts:1.0.0", "version": "1.0.0",
		"types": ["trigger.acts"], "capabilities": ["engine"], "newer": {"ref": "ghcr.io/me/trigger-acts:1.1.0"}, "checkedAt": %q}}`,
				time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)), 0o644))
	return dir
}
