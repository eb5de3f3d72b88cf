package imagediff

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk"
)

// web is an image with everything.
func web() sdk.ImageConfig {
	return sdk.ImageConfig{
		User: "app", Env: []string{"PATH=/bin", "VERSION=1"}, Entrypoint: []string{"/app"}, Cmd: []string{"-v"},
		WorkingDir: "/srv",
		Labels:     map[string]string{"a": "b"}, ExposedPorts: []string{"443/tcp", "80/tcp"},
		Volumes: []string{"/data"}, StopSignal: "SIGINT",
		Healthcheck: []string{"CMD", "/ok"}, Platform: sdk.Platform{OS: "linux", Architecture: "amd64"}, Size: 100 << 20,
		Layers: []sdk.Layer{{Digest: "sha256:a", Size: 60}, {Digest: "sha256:b", Size: 40}}, Base: "debian:12",
	}
}

func TestCompareChangesAndWarnings(t *testing.T) {
	for _, test := range []struct {
		name     string
		change   func(*sdk.ImageConfig)
		changes  string // "kind name: before > after"
		warnings string
	}{
		{"nothing", func(*sdk.ImageConfig) {}, "", ""},
		{"user", func(c *sdk.ImageConfig) {
			c.User = ""
		}, "user: app > ",
			`image.user: runs as root instead of "app": files that it writes belong to root`},
		{"volumes", func(c *sdk.ImageConfig) {
			c.Volumes = []string{"/config"}
		}, "volume /config:  > /config; volume /data: /data > ",
			"image.volume: has a new volume /config: what is written there is lost with the container unless something is mounted; image.volume.gone: no longer has the volume /data: what is there may be looked for elsewhere now"},
		{"ports", func(c *sdk.ImageConfig) {
			c.ExposedPorts = []string{"80/tcp", "8443/tcp"}
		}, "port 443/tcp: 443/tcp > ; port 8443/tcp:  > 8443/tcp", "image.port: no longer exposes 443/tcp"},
		{"entrypoint", func(c *sdk.ImageConfig) {
			c.Entrypoint = []string{"/init"}
		}, "entrypoint: /app > /init", `image.entrypoint: starts with another entrypoint: "/init" instead of "/app"`},
		{"command", func(c *sdk.ImageConfig) {
			c.Cmd = nil
		}, "command: -v > ", `image.command: starts with another command: none instead of "-v"`},
		{"health", func(c *sdk.ImageConfig) {
			c.Healthcheck = nil
		}, "health check: CMD /ok > ", "image.healthcheck: has no health check any more"},
		{"env", func(c *sdk.ImageConfig) {
			c.Env = []string{"PATH=/bin", "EMPTY="}
		}, "env EMPTY:  > ; env VERSION: 1 > ", "image.env: no longer sets VERSION"},
		{"a new value", func(c *sdk.ImageConfig) { c.Env[1] = "VERSION=2" }, "env VERSION: 1 > 2", ""},
		{"labels", func(c *sdk.ImageConfig) { c.Labels = map[string]string{"a": "c"} }, "label a: b > c", ""},
		{"signal", func(c *sdk.ImageConfig) { c.StopSignal = "" }, "stop signal: SIGINT > ", ""},
		{"folder", func(c *sdk.ImageConfig) {
			c.WorkingDir = "/"
		}, "working directory: /srv > /", `image.workdir: works in another folder: "/" instead of "/srv"`},
		{"platform", func(c *sdk.ImageConfig) {
			c.Platform.Architecture = "arm64"
		}, "platform: linux/amd64 > linux/arm64",
			"image.platform: is for another platform: linux/arm64 instead of linux/amd64"},
		{"base", func(c *sdk.ImageConfig) { c.Base = "debian:13" }, "base image: debian:12 > debian:13", ""},
		{"base by its label", func(c *sdk.ImageConfig) {
			c.Base, c.Labels = "", map[string]string{"a": "b", baseLabel: "debian:12"}
		}, "label " + baseLabel + ":  > debian:12", ""},
		{"a little larger", func(c *sdk.ImageConfig) { c.Size += 40 << 20 }, "", ""},
		{"much larger", func(c *sdk.ImageConfig) { c.Size *= 3 }, "", "image.size: is much larger: 314 MB instead of 104 MB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			after := web()
			test.change(&after)
			d := Compare(web(), after)
			var changes, warnings []string
			for _, c := range d.Changes {
				changes = append(changes, fmt.Sprintf("%s: %s > %s", c.Title(), c.Before, c.After))
			}
			for _, w := range d.Warnings {
				warnings = append(warnings, w.Code+": "+w.Text)
			}
			if got := strings.Join(changes, "; "); got != test.changes {
				t.Errorf("changes %q, want %q", got, test.changes)
			}
			if got := strings.Join(warnings, "; "); got != test.warnings {
				t.Errorf("warnings %q, want %q", got, test.warnings)
			}
			if back := Compare(after, web()); len(back.Changes) != len(d.Changes) {
				t.Errorf("back there are %d changes, not %d", len(back.Changes), len(d.Changes))
			}
		})
	}
}

func TestCompareRootIsRoot(t *testing.T) {
	for _, name := range []string{"", "0", "root", "0:0", "root:root"} {
		if d := Compare(sdk.ImageConfig{}, sdk.ImageConfig{User: name}); len(d.Warnings) != 0 {
			t.Errorf("%q: %v", name, d.Warnings)
		}
	}
}

func TestCompareLayers(t *testing.T) {
	after := web()
	after.Layers = []sdk.Layer{{Digest: "sha256:a", Size: 60}, {Digest: "sha256:c", Size: 30}, {
		Digest: "sha256:d", Size: 5,
	}}
	if got, want := Compare(web(), after).Layers,
		(&Layers{Before: 2, After: 3, Shared: 1, Download: 35}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	after.Layers = nil
	if got := Compare(web(), after).Layers; got != nil {
		t.Errorf("layers that are not known: %+v", got)
	}
}

func TestCompareHostileImageIsBounded(t *testing.T) {
	hostile := sdk.ImageConfig{
		User: strings.Repeat("é", 5000) + "\x1b[31m", Labels: map[string]string{"\x00name\u202e": "a\r\nb\x1b]0;title\x07"},
	}
	for i := range 5000 {
		hostile.Labels[fmt.Sprintf("label %05d", i)] = strings.Repeat("x", 1000)
		hostile.Env = append(hostile.Env, fmt.Sprintf("%s%d=\xff\xfe", strings.Repeat("N", 1000), i))
		hostile.Volumes = append(hostile.Volumes, fmt.Sprintf("/volume%d", i))
	}
	d := Compare(sdk.ImageConfig{}, hostile)
	if len(d.Changes) != 1+3*maxChanges || d.Omitted != 5001+5000+5000-3*maxChanges {
		t.Errorf("%d changes and %d omitted", len(d.Changes), d.Omitted)
	}
	for _, c := range d.Changes {
		checkText(t, c.Name)
		checkText(t, c.After)
	}
	for _, w := range d.Warnings {
		if len(w.Text) > 4*maxText {
			t.Errorf("a warning of %d bytes", len(w.Text))
		}
	}
}

func checkText(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\x07\r\n\u202e") || len(text) > 3*maxText+len("…") {
		t.Errorf("text %q", text)
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"plain", "\xff\xfe", strings.Repeat("é", 400), "a\u202eb", "\x1b[2J",
		strings.Repeat("\x80", 400)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkText(t, Text(text))
	})
}
