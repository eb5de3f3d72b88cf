package docker

import (
	"crypto/tls"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestDockerContext reads contexts that the docker command wrote.
func TestDockerContext(t *testing.T) {
	docker, err := exec.LookPath("docker")
	if err != nil {
		plugintest.Skip(t, "docker", err)
	}
	config := t.TempDir()
	t.Setenv("DOCKER_CONFIG", config)
	create := func(name, endpoint string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), docker, "context", "create", name, "--docker", endpoint)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("create the context %s: %v\n%s", name, err, out)
		}
	}
	ca, stranger := newAuthority(t), newAuthority(t)
	cert, key := ca.issue(t, "client")
	e := populated(t, enginesim.Config{APIVersion: "1.41"})
	socket := serve(t, e)
	mutual := serveTCP(t, e, &tls.Config{
		Certificates: []tls.Certificate{ca.server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool,
	})
	create("nas", "host="+socket)
	create("vps", "host=tcp://"+mutual+",ca="+ca.file+",cert="+cert+",key="+key)
	create("pi", "host=ssh://pi@pi.lan:2222/run/podman/podman.sock")
	create("loose", "host=tcp://"+mutual+",skip-tls-verify=true")
	create("pipe", "host=tcp://pipe:1")
	metas, err := filepath.Glob(filepath.Join(config, "contexts", "meta", "*", "meta.json"))
	check(t, err)
	for _, file := range metas { // what the command writes on Windows
		content, err := os.ReadFile(file)
		check(t, err)
		content = []byte(strings.Replace(string(content), "tcp://pipe:1", "npipe:////./pipe/docker_engine", 1))
		check(t, os.WriteFile(file, content, 0o600))
	}

	for name, want := range map[string]string{
		"nas": socket, "vps": "https://" + mutual, "pi": "ssh://pi@pi.lan:2222/run/podman/podman.sock",
		"default": "unix:///var/run/docker.sock",
	} {
		for _, o := range []Connection{{Host: "docker-context:" + name}, {Socket: "docker-context:" + name}} {
			d := watch(t, Options{Connection: o})
			if got := d.engine.Endpoint.String(); got != want {
				t.Errorf("%s leads to %s, want %s", name, got, want)
			}
			if name == "nas" || name == "vps" {
				if got := list(t, d); len(got) != 2 {
					t.Errorf("%s: %d containers", name, len(got))
				}
			}
		}
	}
	t.Run("options win", func(t *testing.T) {
		_, err := watch(t, Options{Connection: Connection{Host: "docker-context:vps", CAFile: stranger.file}}).List(t.Context())
		explains(t, err, sdk.ErrUnavailable, mutual, "not signed by a known CA")
	})
	for name, c := range map[string][]string{
		"nass":  {`there is no context "nass"`, "did you mean nas?"},
		"zzzzz": {"there are default, loose, nas, pi, pipe, vps"},
		"loose": {"does not verify the engine's certificate"},
		"pipe":  {"the address of the context pipe cannot be used", "npipe"},
		"":      {"there is no context", "there are default"},
		"../..": {"there is no context"},
	} {
		_, _, err := locate(Connection{Host: "docker-context:" + name}, "")
		var invalid *sdk.InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != "host" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, text := range c {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %s", name, err, text)
			}
		}
	}
	for _, file := range metas {
		check(t, os.WriteFile(file, []byte("{"), 0o600))
	}
	_, _, err = locate(Connection{Host: "docker-context:nas"}, "")
	if err == nil || !strings.Contains(err.Error(), "meta.json cannot be read") {
		t.Error(err)
	}
}
