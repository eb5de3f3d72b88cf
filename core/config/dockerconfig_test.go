package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDockerConfigFile(t *testing.T) {
	const good, bad = `{"auths":{"ghcr.io":{"auth":"YTpzM2NyZXQ="}},"credsStore":"pass"}`,
		`{"auths":{"ghcr.io":{"auth":"s3cret"`
	tests := []struct {
		name    string
		environ []string
		files   map[string]string
		want    string // the file
		problem string // "" for none; else level and text
	}{
		{"home", []string{"HOME=/home/ana"}, map[string]string{"home/ana/.docker/config.json": good},
			"/home/ana/.docker/config.json", ""},
		{"home without one", []string{"HOME=/home/ana"}, nil, "/home/ana/.docker/config.json", ""},
		{"home of a container", []string{"HOME=/"}, map[string]string{".docker/config.json": good},
			"/.docker/config.json", ""},
		{"home with a broken one", []string{"HOME=/home/ana"}, map[string]string{"home/ana/.docker/config.json": bad},
			"/home/ana/.docker/config.json",
			"error: registries.dockerconfig: the credentials of docker login are not used: /home/ana/.docker/config.json: is no JSON (at byte "},
		{"a folder for a file", []string{"HOME=/home/ana"}, map[string]string{"home/ana/.docker/config.json/x": ""},
			"/home/ana/.docker/config.json", "is a folder, not a file"},
		{"variable of Docker", []string{"HOME=/home/ana", "DOCKER_CONFIG=/d"}, map[string]string{
			"d/config.json": good, "home/ana/.docker/config.json": bad,
		}, "/d/config.json", ""},
		{"variable of Docker without a file", []string{"HOME=/home/ana", "DOCKER_CONFIG=/d"}, nil, "/d/config.json",
			"warning: registries.dockerconfig: the credentials of docker login are not used: /d/config.json: no such file (env DOCKER_CONFIG)"},
		{"setting", []string{"DOCKER_CONFIG=/d", "DOGWATCH_REGISTRIES_DOCKERCONFIG=/e/my.json"}, map[string]string{
			"e/my.json": good,
		}, "/e/my.json", ""},
		{"setting with a folder", []string{"DOGWATCH_REGISTRIES_DOCKERCONFIG=/e"}, map[string]string{
			"e/config.json": good,
		}, "/e/config.json", ""},
		{"setting of What's Up Docker's kind", []string{"WUD_REGISTRIES_DOCKERCONFIG=/e"}, map[string]string{
			"e/config.json": good,
		}, "/e/config.json", ""},
		{"setting without a file", []string{"DOGWATCH_REGISTRIES_DOCKERCONFIG=/e"}, nil, "/e",
			"error: registries.dockerconfig: the credentials of docker login are not used: /e: no such file"},
		{"none", []string{"HOME=/home/ana", "DOCKER_CONFIG=/d", "DOGWATCH_REGISTRIES_DOCKERCONFIG=none"}, map[string]string{
			"d/config.json": bad,
		}, "", ""},
		{"mistyped", []string{"HOME=/home/ana", "DOGWATCH_REGISTRIES_DOCKERCONFG=/e"}, nil,
			"/home/ana/.docker/config.json", "did you mean DOGWATCH_REGISTRIES_DOCKERCONFIG?"},
		{"nowhere", nil, nil, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Load(Input{Environ: append(test.environ, "XDG_DATA_HOME=/data"), Open: memory(test.files)})
			if err != nil {
				t.Fatal(err)
			}
			if c.Registries.DockerConfig != test.want {
				t.Errorf("file %q, want %q", c.Registries.DockerConfig, test.want)
			}
			checkOneProblem(t, c.Problems, test.problem)
		})
	}
}

// checkOneProblem wants one problem that holds want, or none for "".
func checkOneProblem(t *testing.T, problems []Problem, want string) {
	t.Helper()
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Level.String()+": "+p.String())
	}
	all := strings.Join(lines, "\n")
	if want == "" && all != "" || want != "" && (len(lines) != 1 || !strings.Contains(all, want)) ||
		strings.Contains(all, "s3cret") {
		t.Errorf("problems %q, want %q", all, want)
	}
}

func TestHomeFolderInPaths(t *testing.T) {
	for _, test := range []struct{ environ, path, want, problem string }{
		{"HOME=/home/ana", "~/data", "/home/ana/data", ""},
		{"HOME=/home/ana", "~", "/home/ana", ""},
		{"HOME=/home/ana", "/x/~/data", "/x/~/data", ""},
		{"HOME=/home/ana", "~bob/data", "", "store.path: only ~/ is replaced"},
		{"X=", "~/data", "", "store.path: ~ stands for the home folder, and HOME is not set"},
	} {
		for _, in := range []Input{
			{Environ: []string{test.environ, "DOGWATCH_STORE_PATH=" + test.path}, Open: memory(nil)},
			{
				Environ: []string{test.environ}, File: "/f.yaml",
				Open: memory(map[string]string{"f.yaml": "store: {path: " + test.path + "}\n"}),
			},
		} {
			if in.File != "" && test.path == "~" {
				continue // YAML's null
			}
			c, err := Load(in)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("%s with %s: error %v, want %q", test.path, test.environ, err, test.problem)
				}
				continue
			}
			if err != nil || c.Store.Path != test.want || c.Plugins.Dir != filepath.Join(test.want, "plugins") {
				t.Errorf("%s with %s: %q and %q, %v, want %q", test.path, test.environ, c.Store.Path, c.Plugins.Dir, err, test.want)
			}
		}
	}
}
