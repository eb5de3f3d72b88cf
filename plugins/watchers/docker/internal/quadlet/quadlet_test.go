package quadlet

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/compose"
)

// TestEditChangesTheImageAlone keeps every other byte of a quadlet.
func TestEditChangesTheImageAlone(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":         {"[Container]\nImage=nginx:1\n", "[Container]\nImage=nginx:2\n"},
		"no newline":    {"[Container]\nImage=nginx:1", "[Container]\nImage=nginx:2"},
		"spaces":        {"[Container]\r\n  Image =  nginx:1 \t\r\nExec=a\r\n", "[Container]\r\n  Image =  nginx:2 \t\r\nExec=a\r\n"},
		"the last one":  {"[Container]\nImage=a:1\n[Install]\n[Container]\nImage=nginx:1\n", "[Container]\nImage=a:1\n[Install]\n[Container]\nImage=nginx:2\n"},
		"other section": {"[Unit]\nImage=nginx:1\n[Container]\nImage=nginx:1\n[Service]\nImage=nginx:1\n", "[Unit]\nImage=nginx:1\n[Container]\nImage=nginx:2\n[Service]\nImage=nginx:1\n"},
		"comments":      {"[Container]\n#Image=a\n;Image=b\nImage=nginx:1\n# Image=c", "[Container]\n#Image=a\n;Image=b\nImage=nginx:2\n# Image=c"},
		"continued":     {"[Container]\nImage=nginx:1\nExec=a \\\n# between\nImage=x\n", "[Container]\nImage=nginx:2\nExec=a \\\n# between\nImage=x\n"},
		"full name":     {"[Container]\nImage=docker.io/library/nginx:1\n", "[Container]\nImage=docker.io/library/nginx:2\n"},
	} {
		file := filepath.Join(t.TempDir(), "web.container")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		change, err := Edit(file, "systemd-web", "docker.io/library/nginx:1", "docker.io/library/nginx:2", compose.ReadFile)
		if err == nil {
			_, err = change.Apply(false, nil)
		}
		got, _ := os.ReadFile(file) // an empty text is not what is wanted either
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
		if err := change.Undo(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(file); string(got) != c.text {
			t.Errorf("%s: %q after it was taken back, want %q", name, got, c.text)
		}
	}
}

// TestEditKnowsTheContainer refuses a quadlet that makes another container.
func TestEditKnowsTheContainer(t *testing.T) {
	for line, name := range map[string]string{
		"": "systemd-web", "ContainerName=front": "front", "ContainerName=%N": "web", "ContainerName=%p-1": "web-1",
	} {
		read := func(string) ([]byte, error) { return []byte("[Container]\nImage=a:1\n" + line + "\n"), nil }
		if _, err := Edit("/q/web.container", name, "a:1", "a:2", read); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		_, err := Edit("/q/web.container", name+"x", "a:1", "a:2", read)
		if refused := new(compose.Error); !errors.As(err, &refused) || refused.Code != Name {
			t.Errorf("%q, another name: %v", line, err)
		}
	}
	missing := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	if _, err := Edit("/q/web.container", "systemd-web", "a:1", "a:2", missing); err == nil ||
		!strings.Contains(err.Error(), "mount the directory /q") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestWithin(t *testing.T) {
	for file, want := range map[string]bool{
		"/q/web.container": true, "/q/sub/web.container": true, "/qq/web.container": false, "/q/../etc/web.container": false,
		"/other/web.container": true, "/": false,
	} {
		if got := Within(file, []string{"/q", "/other/"}); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
}
