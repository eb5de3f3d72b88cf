package docker

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// privateRegistry runs the registry of the distribution project, which lets ann in with a password.
func privateRegistry(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		plugintest.Skip(t, "registry", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	host := listener.Addr().String()
	check(t, listener.Close())
	dir := t.TempDir()
	users, config := filepath.Join(dir, "htpasswd"), filepath.Join(dir, "config.yml")
	check(t, os.WriteFile(users, []byte("ann:$2a$04$8PNB6vPdD9YzXlV5mTYQQednHkpc3TkAxFLD9mRov6wXTg6hQJlFy\n"), 0o600))
	check(t, os.WriteFile(config, fmt.Appendf(nil,
		"version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q}\nauth: {htpasswd: {realm: test, path: %q}}\n", dir, host, users), 0o600))
	command := exec.Command(program, "serve", config)
	command.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	check(t, command.Start())
	t.Cleanup(func() {
		check(t, command.Process.Kill())
		_ = command.Wait() // killed
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get("http://" + host + "/v2/")
		if err == nil {
			check(t, response.Body.Close())
			return host
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestUpdatePullsFromAPrivateRegistry with credentials that are in one header of one request, and nowhere else.
func TestUpdatePullsFromAPrivateRegistry(t *testing.T) {
	t.Parallel()
	host := privateRegistry(t)
	l := &lab{Daemon: dockertest.Start(t)}
	ann := base64.URLEncoding.EncodeToString([]byte(`{"username":"ann","password":"swordfish-77"}`))
	push := func(tag string) string {
		ref := host + "/team/app:" + tag
		l.Image(t, ref, "LABEL version="+tag)
		response, err := l.API.ImagePush(t.Context(), ref, image.PushOptions{RegistryAuth: ann})
		check(t, err)
		defer response.Close()
		digest := ""
		for decoder := json.NewDecoder(response); ; {
			var step struct {
				Error string
				Aux   struct{ Digest string }
			}
			if err := decoder.Decode(&step); err == io.EOF {
				return digest
			} else if err != nil || step.Error != "" {
				t.Fatal(err, step.Error)
			}
			digest += step.Aux.Digest
		}
	}
	push("1")
	digest := push("2")
	_, err := l.API.ImageRemove(t.Context(), host+"/team/app:2", image.RemoveOptions{})
	check(t, err)
	var mu sync.Mutex
	var seen []string
	l.docker = l.behind(t, func(w http.ResponseWriter, r *http.Request, engine http.Handler) {
		body, err := io.ReadAll(r.Body)
		check(t, err)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		headers := r.Header.Clone()
		if strings.HasSuffix(r.URL.Path, "/images/create") {
			headers.Del("X-Registry-Auth") // where it belongs
		}
		mu.Lock()
		seen = append(seen, fmt.Sprint(r.Method, " ", r.URL, headers, string(body)))
		mu.Unlock()
		engine.ServeHTTP(w, r)
	})
	for _, test := range []struct {
		name, password string
		want           watcher.OutcomeState
	}{{"none", "", watcher.Unchanged}, {"wrong", "hunter2-wrong", watcher.Unchanged},
		{"right", "swordfish-77", watcher.Updated}} {
		t.Run(test.name, func(t *testing.T) {
			id := l.make(t, "web", host+"/team/app:1", shape{}, true)
			defer l.Remove(t, "web")
			req := watcher.UpdateRequest{
				ContainerID: id, Image: watcher.TargetImage{Reference: host + "/team/app:2", Digest: digest},
			}
			if test.password != "" {
				req.Credentials = sdk.Credentials{Username: "ann", Password: test.password}
			}
			plan := l.plan(t, req)
			j := &journal{}
			out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, j)
			check(t, err)
			if out.State != test.want || test.want == watcher.Unchanged && out.Reason.Code != "step.pull" {
				t.Errorf("%+v", out)
			}
			mu.Lock()
			defer mu.Unlock()
			said := fmt.Sprintf("%v %+v %+v %+v", seen, plan, out, j.steps)
			if test.password != "" {
				for _, secret := range []string{test.password, ann} {
					if strings.Contains(said, secret) {
						t.Errorf("%s is in %s", secret, said)
					}
				}
			}
		})
	}
}
