package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLoadFromOperatingSystem runs what the other tests do in memory against the operating system.
func TestLoadFromOperatingSystem(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := write("secret", "hunter2\n\n")
	large := write("large", strings.Repeat("x", maxSecretSize+1))
	file := write("dogwatch.yaml",
		"server: {port: 8080}\ntrigger.smtp.main: {pass__file: "+secret+", user__file: "+large+", host__file: "+
			os.DevNull+", to__file: "+folder+"}\n")
	c, err := Load(Input{
		File: file, Environ: []string{"XDG_DATA_HOME=" + folder, "HOME=/h"},
		Flags: map[string]any{"server.port": 8081, "server.host": "127.0.0.1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Server.Port != 8081 || c.Server.Host != "127.0.0.1" || c.sources["server.port"] != "command line" {
		t.Errorf("flags: %+v", c.Server)
	}
	main := c.Components[0]
	if got := main.Options["pass"].V; got != "hunter2\n" {
		t.Errorf("pass is %q: only one line break goes", got)
	}
	problems := ""
	for _, p := range main.Problems {
		problems += p.String() + "\n"
	}
	for _, want := range []string{".user: the file cannot be read: is larger than 64 KiB",
		".host: the file cannot be read: is not a regular file", ".to: the file cannot be read: is a folder"} {
		if !strings.Contains(problems, want) {
			t.Errorf("no %q in\n%s", want, problems)
		}
	}
	if _, err := os.Stat(storeFolder); err != nil {
		if want := filepath.Join(folder, "dogwatch"); c.Store.Path != want ||
			c.Plugins.Dir != filepath.Join(want, "plugins") {
			t.Errorf("store %q, plugins %q", c.Store.Path, c.Plugins.Dir)
		}
	}
}

func TestDefaultStoreFolder(t *testing.T) {
	none, store := memory(nil), memory(map[string]string{"store/wud.json": "{}"})
	for want, in := range map[string]Input{
		"/store":                          {Environ: []string{"HOME=/home/ana"}, Open: store},
		"/data/dogwatch":                  {Environ: []string{"HOME=/home/ana", "XDG_DATA_HOME=/data"}, Open: none},
		"/home/ana/.local/share/dogwatch": {Environ: []string{"HOME=/home/ana", "XDG_DATA_HOME=relative"}, Open: none},
		"/elsewhere":                      {Environ: []string{"WUD_STORE_PATH=/elsewhere"}, Open: store},
	} {
		if c, err := Load(in); err != nil || c.Store.Path != want || c.Store.File != "dogwatch.db" {
			t.Errorf("got %q, want %q (%v)", c.Store.Path, want, err)
		}
	}
	_, err := Load(Input{Open: none})
	if err == nil || !strings.Contains(err.Error(), "store.path: there is no folder for data") {
		t.Error(err)
	}
}

func TestPluginPinsAndGrants(t *testing.T) {
	p := Plugins{Opened: []string{"a=/b", "a=/c=d", "e=/f"}}
	if got := p.Paths(); len(got) != 2 || !slices.Equal(got["a"], []string{"/b", "/c=d"}) ||
		!slices.Equal(got["e"], []string{"/f"}) {
		t.Errorf("paths are %v", got)
	}
	for text, want := range map[string][2]uint32{
		"65534": {65534, 65534}, "1000:20": {1000, 20}, "root": {0, 0}, "root:7": {0, 7},
	} {
		uid, gid, set, err := Plugins{RunAs: text}.User()
		if err != nil || !set || uid != want[0] || gid != want[1] {
			t.Errorf("user %q: %d:%d, %v, %v", text, uid, gid, set, err)
		}
	}
	for _, text := range []string{"no-such-user", "1:x", "-1", "1:-1"} {
		if _, _, set, err := (Plugins{RunAs: text}).User(); err == nil || set {
			t.Errorf("user %q is accepted", text)
		}
	}
	p = Plugins{Pins: []string{"a-b=ABC", "c=d"}, Granted: []string{"a-b=Engine", "a-b=credentials"}}
	if got := p.Checksums(); got["a-b"] != "abc" || got["c"] != "d" || len(got) != 2 {
		t.Error(got)
	}
	for capability, want := range map[string]bool{
		"credentials": true, "engine": true, "operate": true, "run": true, "fly": false, "probe": false,
	} {
		c, _ := Load(Input{Environ: []string{"HOME=/h", "DOGWATCH_PLUGINS_GRANTS=a-b=" + capability}, Open: memory(nil)})
		if refused := len(c.Problems) > 0; refused == want {
			t.Errorf("the grant of %s: %v", capability, c.Problems)
		}
	}
	if got := p.Grants()["a-b"]; len(got) != 2 || got[0] != "engine" || got[1] != "credentials" {
		t.Error(got)
	}
}
