package config

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// written is a configuration as an operator wrote it.
type written struct {
	file string // "" for none
	env  []string
}

// variable is a configuration of one variable about watchers.
func variable(text string) written { return written{env: []string{"DOGWATCH_WATCHER_" + text}} }

const pasteFile = "/config/dogwatch.yaml"

func (w written) load(t *testing.T) *Config {
	t.Helper()
	files := fstest.MapFS{"secret": {Data: []byte("false\n")}}
	if w.file != "" {
		files[strings.TrimPrefix(pasteFile, "/")] = &fstest.MapFile{Data: []byte(w.file)}
	}
	open := func(name string) (fs.File, error) { return files.Open(strings.TrimPrefix(filepath.ToSlash(name), "/")) }
	c, err := Load(Input{Environ: append([]string{"HOME=/h"}, w.env...), Open: open, WatcherTypes: []string{"docker"},
		DockerOptions: option.Schema{{Name: "update", Type: option.Bool}, {Name: "host", Type: option.String}}})
	if err != nil {
		t.Fatalf("%v in %q", err, w)
	}
	return c
}

// paste does what lines say.
func (w written) paste(t *testing.T, l Lines) written {
	t.Helper()
	if !strings.HasPrefix(l.Where, "In the compose file") {
		w.file += l.Text
		return w
	}
	var file struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal([]byte(l.Text), &file); err != nil || len(file.Services["dogwatch"].Environment) != 1 {
		t.Fatalf("%v, in\n%s", err, l.Text)
	}
	for name, value := range file.Services["dogwatch"].Environment {
		others := slices.DeleteFunc(slices.Clone(w.env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		w.env = append(others, name+"="+value)
	}
	return w
}

// TestGivenLinesCount: what is pasted where it was said gives the option, and is no mistake, however and
// wherever the watcher was written.
func TestGivenLinesCount(t *testing.T) {
	const (
		host    = "watcher:\n  docker:\n    local:\n      host: engine\n"
		compose = "In the compose file of Dogwatch,"
		inPlace = "In the compose file of Dogwatch, in the place of "
		end     = "At the end of " + pasteFile + ","
		option  = "At the end of " + pasteFile + ", in the place of the option there,"
	)
	for name, test := range map[string]struct {
		key string // of the watcher, less "watcher."
		written
		where []string // what the places say
		// without is written less what the lines take the place of.
		without *written
	}{
		"nowhere":            {"docker.local", written{}, []string{compose, "At the end of the configuration file,"}, nil},
		"in a variable":      {"docker.local", variable("LOCAL_HOST=engine"), []string{compose}, nil},
		"with its type":      {"docker.local", variable("DOCKER_LOCAL_HOST=engine"), []string{compose}, nil},
		"in one of WUD":      {"docker.local", written{env: []string{"WUD_WATCHER_LOCAL_HOST=x"}}, []string{compose}, nil},
		"called as its type": {"docker.docker", variable("DOCKER_HOST=engine"), []string{compose}, nil},
		"called almost so":   {"docker.docker2", variable("DOCKER2_HOST=engine"), []string{compose}, nil},
		"with a dash":        {"docker.my-nas", variable("MY-NAS_HOST=engine"), []string{compose}, nil},
		"of a plugin":        {"shelf.main", variable("SHELF_MAIN_HOST=engine"), []string{compose}, nil},
		"in the file":        {"docker.local", written{file: host}, []string{end}, nil},
		"called null":        {"docker.null", written{file: "watcher.docker: {\"null\": {host: x}}\n"}, []string{end}, nil},
		"called yes":         {"docker.yes", written{file: "watcher.docker.yes.host: engine\n"}, []string{end}, nil},
		"a plugin's file":    {"shelf.main", written{file: "watcher.shelf.main.host: engine\n"}, []string{end}, nil},
		"in both":            {"docker.local", written{host, variable("LOCAL_CRON=@daily").env}, []string{compose, end}, nil},
		"set": {"docker.local", variable("LOCAL_UPDATE=false"),
			[]string{inPlace + "DOGWATCH_WATCHER_LOCAL_UPDATE,"}, nil},
		"set with its type": {"docker.local", written{env: []string{"dogwatch_watcher_docker_local_update=false"}},
			[]string{inPlace + "dogwatch_watcher_docker_local_update,"}, nil},
		"set in one of WUD": {"docker.local", written{env: []string{"WUD_WATCHER_LOCAL_UPDATE=false"}},
			[]string{inPlace + "WUD_WATCHER_LOCAL_UPDATE,"}, nil},
		"set in a file of its own": {"docker.local", variable("LOCAL_UPDATE__FILE=/secret"),
			[]string{inPlace + "DOGWATCH_WATCHER_LOCAL_UPDATE__FILE,"}, &written{}},
		"set in the file": {"docker.local", written{file: host + "      update: false\n"},
			[]string{option}, &written{file: host}},
		"set alone": {"docker.local", written{file: "watcher:\n  docker:\n    local:\n      update: false\n"},
			[]string{option}, &written{file: "watcher:\n  docker:\n    local:\n"}},
		"set in both": {"docker.local", written{"watcher.docker.local.update: true\n", variable("LOCAL_UPDATE=false").env},
			[]string{inPlace + "DOGWATCH_WATCHER_LOCAL_UPDATE,"}, nil},
	} {
		test.key = "watcher." + test.key
		t.Run(name, func(t *testing.T) {
			before := test.load(t)
			all := find(before, test.key).Giving("update", "true")
			if len(all) != len(test.where) {
				t.Fatalf("got %+v", all)
			}
			for i, l := range all {
				if !strings.HasPrefix(l.Where, test.where[i]) {
					t.Errorf("it belongs %q, want %q", l.Where, test.where[i])
				}
				pasted := test.written
				if test.without != nil {
					pasted = *test.without
				}
				pasted = pasted.paste(t, l)
				after := pasted.load(t)
				if got := find(after, test.key).Options["update"].V; got != "true" || len(after.Problems) > 0 {
					t.Errorf("%+v: the option is %v, problems %v", pasted, got, after.Problems)
				}
				for _, c := range after.Components {
					if len(c.Problems) > 0 || c.Key() != test.key {
						t.Errorf("%+v makes %s: %v", pasted, c.Key(), c.Problems)
					}
				}
			}
		})
	}
}

// find returns the section of a component, which has no options where nobody wrote one.
func find(c *Config, key string) Component {
	for _, component := range c.Components {
		if component.Key() == key {
			return component
		}
	}
	parts := strings.SplitN(key, ".", 3)
	return Component{Kind: kind.Kind(parts[0]), Type: parts[1], Name: parts[2]}
}
