package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// homeStack are the files of a compose project. REGISTRY is replaced.
var homeStack = map[string]string{
	"compose.yaml": `# the stack of a home
version: "3.8"
services:
  web:
    image: "REGISTRY/home/web:${WEB_TAG}" # from .env
    labels: {wud.watch: "true"}
  vpn:
    image: REGISTRY/home/vpn:1.0.0
    command: [serve, ":8080", "tunnel"]
    labels: {wud.watch: "true"}
  torrent:
    image: REGISTRY/home/torrent:1.0.0
    network_mode: service:vpn
    depends_on: [vpn]
    labels: {wud.watch: "true"}
  cache:
    image: REGISTRY/home/cache:1.0.0
networks:
  default: {ipam: {config: [{subnet: 10.98.15.0/24}]}}
`,
	"compose.more.yaml": `version: "3.8"
services:
  web:
    environment: {LEVEL: debug}
  db:
    image: 'REGISTRY/home/db:1.0.0'   # keep the quotes
    volumes: ["/data"]
    labels: {wud.watch: "true"}
  broken:
    image: REGISTRY/home/broken:1.0.0
    labels: {wud.watch: "true"}
`,
	".env": "# versions\nWEB_TAG=1.0.0\n",
}

// TestComposeStackUpdatesItself runs a stack of six services, of two files and an .env,
// with the variables of What's Up Docker. Pushed images replace containers and are
// written into the files, one that does not work comes back in both, and compose itself
// finds the stack as it is described.
func TestComposeStackUpdatesItself(t *testing.T) {
	t.Parallel()
	require(t, "docker-compose", "docker-compose")
	engine, registry := dockertest.Start(t), startRegistry(t)
	dir, products, services := shortDir(t), map[string]*product{},
		[]string{"web", "vpn", "torrent", "cache", "db", "broken"}
	for _, name := range services {
		var changes []string
		if name == "broken" {
			changes = []string{unhealthy}
		}
		products[name] = newProduct(t, engine, registry+"/home/"+name, changes...)
	}
	for name, text := range homeStack {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "REGISTRY", registry)), 0o644))
	}
	compose := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("docker-compose",
			append([]string{"-p", "home", "-f", "compose.yaml", "-f", "compose.more.yaml"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "DOCKER_HOST="+engine.Host)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("docker-compose %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	compose("up", "-d")
	ids := func() map[string]string {
		all := map[string]string{}
		for _, name := range services {
			found := containersOf(t, engine, "home_"+name+"_1")
			if len(found) != 1 || found[0].State != "running" {
				t.Errorf("of %s there is %s", name, show(found))
				continue
			}
			all[name] = found[0].ID
		}
		return all
	}
	before := ids()

	d := install(t, "DOGWATCH_LOG_LEVEL=info", "WUD_WATCHER_LOCAL_SOCKET="+strings.TrimPrefix(engine.Host, "unix://"),
		"WUD_WATCHER_LOCAL_CRON=0 0 1 1 *", "WUD_WATCHER_LOCAL_WATCHBYDEFAULT=false",
		"WUD_REGISTRY_CUSTOM_LAN_URL=http://"+registry,
		"WUD_TRIGGER_DOCKERCOMPOSE_HOME_FILE="+filepath.Join(dir, "compose.yaml"),
		"WUD_TRIGGER_DOCKERCOMPOSE_HOME_BACKUP=true").start()
	d.watch()
	// Like What's Up Docker's, the trigger runs once for all that a check has found.
	var given delivery.Delivery
	within(t, 3*maxWait, "the delivery has ended", func() bool { // with five updates, one of which fails slowly
		all := get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries")
		if len(all) == 0 {
			return false // it is planned after the check
		}
		given = all[len(all)-1]
		return given.State == delivery.Sent || given.State == delivery.Failed
	})
	if given.State != delivery.Failed ||
		!strings.Contains(given.Error, "home_broken_1 was not updated, and its old container is back") ||
		strings.Count(given.Error, " was not updated") != 1 {
		t.Errorf("the delivery is %s: %s", given.State, given.Error)
	}
	for _, name := range []string{"web", "vpn", "torrent", "db"} {
		all := d.operations("home_" + name + "_1")
		if succeeded(t, all[0]); len(all) != 1 {
			t.Errorf("%s has %d operations", name, len(all))
		}
		only(t, engine, "home_"+name+"_1", products[name].new)
	}
	only(t, engine, "home_broken_1", products["broken"].old)
	for name, want := range map[string]map[string]string{
		"compose.yaml":      {"/vpn:1.0.0": "/vpn:1.1.0", "/torrent:1.0.0": "/torrent:1.1.0"},
		"compose.more.yaml": {"/db:1.0.0": "/db:1.1.0"},
		".env":              {"=1.0.0": "=1.1.0"},
	} {
		text := strings.ReplaceAll(homeStack[name], "REGISTRY", registry)
		for from, to := range want {
			text = strings.ReplaceAll(text, from, to)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s is %v\n%s\nwant\n%s", name, err, got, text)
		}
	}
	tunnel, err := engine.API.ContainerInspect(t.Context(), "home_vpn_1")
	must(t, err)
	client, err := engine.API.ContainerInspect(t.Context(), "home_torrent_1")
	must(t, err)
	if got := client.HostConfig.NetworkMode; got != container.NetworkMode("container:"+tunnel.ID) {
		t.Errorf("torrent is in the network %s, vpn is %s", got, tunnel.ID)
	}
	if got := inside(t, engine, "home_torrent_1", "/main", "get", "127.0.0.1:8080"); got != "tunnel" {
		t.Errorf("torrent gets %q", got)
	}

	after := ids()
	for _, name := range services {
		if same := name == "cache" || name == "broken"; (after[name] == before[name]) != same {
			t.Errorf("%s is container %s, was %s", name, after[name], before[name])
		}
	}
	t.Logf("compose says: %s", compose("up", "-d", "--no-recreate"))
	t.Logf("and when it may recreate: %s", compose("up", "-d"))
	ids()

	// What did not work is not tried again by itself, and a newer one is.
	d.watch()
	d.settled()
	if all := d.operations("home_broken_1"); len(all) != 1 || all[0].State != operation.RolledBack {
		t.Errorf("broken was tried again: %s", show(all))
	}
	products["broken"].push(t, "1.2.0")
	d.watch()
	eventually(t, "the newer one of broken is used", func() bool {
		all := d.operations("home_broken_1")
		return len(all) == 2 && all[0].State.Ended()
	})
	only(t, engine, "home_broken_1", products["broken"].new)
	if all := get[[]delivery.Delivery](d, http.MethodGet, "/api/deliveries?state=pending"); len(all) > 0 {
		t.Errorf("pending: %s", show(all))
	}
	d.stop()
}
