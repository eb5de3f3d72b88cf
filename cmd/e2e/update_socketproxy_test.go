package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
)

// rule is what a socket proxy allows: a method and a path, or all that change nothing.
type rule struct {
	methods []string // none for GET and HEAD
	path    string   // a regular expression
}

// exampleProxy returns the rules of tecnativa/docker-socket-proxy with the environment
// that an example gives it. The compose command has to accept the example.
func exampleProxy(t *testing.T, name string) []rule {
	t.Helper()
	require(t, "docker-compose", "docker-compose")
	cmd := exec.Command("docker-compose", "-f", filepath.Join("..", "..", "examples", "compose", name), "config")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, said.String())
	}
	var file struct {
		Services map[string]struct{ Environment map[string]string }
	}
	must(t, yaml.Unmarshal(out, &file))
	allows := file.Services["engine"].Environment
	var methods []string
	if allows["POST"] == "1" {
		methods = []string{".*"}
	}
	var rules []rule
	for section, path := range map[string]string{
		"CONTAINERS": "/containers", "IMAGES": "/images", "NETWORKS": "/networks", "EVENTS": "/events",
		"PING": "/_ping", "VERSION": "/version", "EXEC": "/exec",
	} {
		if allows[section] == "1" {
			rules = append(rules, rule{methods, `^(/v[\d.]+)?` + path})
		}
	}
	return rules
}

// documentedProxy returns the rules of the documentation, for a proxy that filters by path.
func documentedProxy(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "updating-in-depth.md"))
	must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Requests that a proxy has to allow\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rules []rule
	for _, m := range regexp.MustCompile("`([A-Z]+) (/[^`]+)`").FindAllStringSubmatch(section, -1) {
		path := regexp.QuoteMeta(m[2])
		path = strings.NewReplacer(`\{id\}`, `[^/]+`, `\{name\}`, `.+`).Replace(path)
		rules = append(rules, rule{[]string{m[1]}, `^(/v[\d.]+)?` + path + `$`})
	}
	if len(rules) < 20 {
		t.Fatalf("the documentation has %d requests", len(rules))
	}
	return rules
}

// socketProxy runs nginx before a socket, with rules, and returns its port.
func socketProxy(t *testing.T, socket string, rules []rule) string {
	t.Helper()
	require(t, "nginx", "nginx")
	dir := shortDir(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := free.Addr().String()
	must(t, free.Close())
	var allowed strings.Builder
	for _, r := range rules {
		methods := r.methods
		if len(methods) == 0 || slices.Equal(methods, []string{"GET"}) {
			methods = []string{"GET", "HEAD"}
		}
		fmt.Fprintf(&allowed, "\"~*^(%s) %s\" 1;\n", strings.Join(methods, "|"), strings.TrimPrefix(r.path, "^"))
	}
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := filepath.Join(dir, "nginx.conf")
	must(t, os.WriteFile(conf, fmt.Appendf(nil, `daemon off; master_process off; pid %s/pid; error_log stderr;
events {}
http {
access_log off;
%s
map "$request_method $uri" $allowed { default 0; %s }
server {
	listen %s;
	client_max_body_size 0; proxy_request_buffering off; proxy_buffering off; proxy_http_version 1.1; proxy_read_timeout 600s;
	location / {
		if ($allowed = 0) { return 403; }
		proxy_pass http://unix:%s:;
	}
}
}
`, dir, temporary.String(), allowed.String(), address, socket), 0o600))
	cmd := exec.Command("nginx", "-p", dir, "-c", conf, "-e", "stderr")
	var said bytes.Buffer
	cmd.Stderr = &said
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("nginx says %s", said.String())
		}
	})
	eventually(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	_, port, _ := net.SplitHostPort(address)
	return port
}

// TestSocketProxies checks and updates behind the two examples of the documentation,
// and behind a proxy that allows what the documentation lists and nothing else.
func TestSocketProxies(t *testing.T) {
	t.Parallel()
	engine, registry := dockertest.Start(t), startRegistry(t)
	for name, subnet := range map[string]string{"front": "10.98.13.0/24", "back": "10.98.14.0/24"} {
		_, err := engine.API.NetworkCreate(t.Context(), name, network.CreateOptions{
			Driver: "bridge", IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}},
		})
		must(t, err)
	}
	for name, rules := range map[string][]rule{
		"compose": exampleProxy(t, "compose.yaml"), "update": exampleProxy(t, "update.yaml"),
		"documented": documentedProxy(t),
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, engine)
			p := newProduct(t, engine, registry+"/proxy/"+name)
			runWithFile(t, engine, name, "mine", &container.Config{
				Image: p.repo + ":1.0.0", Labels: map[string]string{"dogwatch.watch": "true"},
			}, "front", "back")
			in := install(t, "DOGWATCH_WATCHER_LOCAL_HOST=127.0.0.1",
				"DOGWATCH_WATCHER_LOCAL_PORT="+socketProxy(t, g.socket, rules), "DOGWATCH_WATCHER_LOCAL_CRON=0 0 1 1 *",
				"DOGWATCH_WATCHER_LOCAL_UPDATE=true", "DOGWATCH_WATCHER_LOCAL_WATCHBYDEFAULT=false",
				"DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://"+registry)
			d := in.start()
			d.watch()
			c := known(d, name)
			if !c.UpdateAvailable || c.Error != nil {
				t.Fatalf("after a check: %s", show(c))
			}
			plan := d.plan(name)
			if name == "compose" {
				refused(t, d, name, plan)
				only(t, engine, name, p.old)
				if all := g.take(); len(all) > 0 {
					t.Errorf("changes %v behind a proxy that only reads", steps(all))
				}
				d.stop()
				return
			}
			if len(plan.Blocks) > 0 {
				t.Fatalf("the plan has blocks: %s", show(plan.Blocks))
			}
			succeeded(t, d.ended(d.begin("update", name).ID))
			only(t, engine, name, p.new)
			d.watch()
			succeeded(t, d.ended(d.begin("rollback", name).ID))
			only(t, engine, name, p.old)
			got, err := engine.API.ContainerInspect(t.Context(), name)
			must(t, err)
			if len(got.NetworkSettings.Networks) != 2 {
				t.Errorf("it has the networks %s", show(got.NetworkSettings.Networks))
			}
			if file := fileOf(t, engine, name, "/app.conf"); file != "mine" {
				t.Errorf("the file of compose is %q", file)
			}
			want := []string{"pull", "rename", "tag", "create", "files", "connect", "stop", "start", "remove", "rename",
				"tag", "create", "files", "connect", "stop", "start", "remove"}
			if all := steps(g.take()); !slices.Equal(all, want) {
				t.Errorf("changes %v, want %v", all, want)
			}
			d.stop()
		})
	}
}

// refused requires that nothing can be updated, and that the plan says what to do.
func refused(t *testing.T, d *daemon, name string, plan api.Plan) {
	t.Helper()
	if len(plan.Blocks) != 1 || plan.Blocks[0].Code != "engine.readonly" ||
		!strings.Contains(plan.Blocks[0].Text, "allow POST, CONTAINERS, IMAGES and NETWORKS in the proxy") {
		t.Errorf("the plan has the blocks %s", show(plan.Blocks))
	}
	status, body := d.request(http.MethodPost, "/api/containers/"+known(d, name).ID+"/update", "")
	var problem struct{ Code string }
	if err := json.Unmarshal(body, &problem); err != nil || status != http.StatusUnprocessableEntity ||
		problem.Code != "blocked" {
		t.Errorf("an update: %d %s", status, body)
	}
	if all := d.operations(name); len(all) > 0 {
		t.Errorf("there are operations: %s", show(all))
	}
}
