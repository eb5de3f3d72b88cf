package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "my config.yaml")
	if err := os.WriteFile(file, []byte("server: {port: 4000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"defaults": {Input{}, "dogwatch"},
		"variables": {Input{
			Environ: []string{"DOGWATCH_SERVER_HOST=127.0.0.1", "WUD_SERVER_PORT=3001", "DOGWATCH_SERVER_BASEPATH=/dog"},
		}, "DOGWATCH_SERVER_HOST=127.0.0.1 DOGWATCH_SERVER_PORT=3001 DOGWATCH_SERVER_BASEPATH=/dog/ dogwatch"},
		"flag": {Input{Flags: map[string]any{"server.port": 3002}}, "DOGWATCH_SERVER_PORT=3002 dogwatch"},
		"file": {Input{File: file}, "dogwatch --config '" + file + "'"},
		"both": {Input{Environ: []string{"DOGWATCH_CONFIG=" + file, "DOGWATCH_SERVER_HOST=::1"}},
			"DOGWATCH_SERVER_HOST=::1 dogwatch --config '" + file + "'"},
		"store": {Input{Environ: []string{"DOGWATCH_STORE_PATH=" + dir}}, "dogwatch"},
		"login": {Input{
			Environ: []string{"DOGWATCH_STORE_PATH=" + dir, "DOGWATCH_AUTH_BASIC_ME_USER=me", "DOGWATCH_AUTH_BASIC_ME_HASH=x"},
		}, "DOGWATCH_STORE_PATH=" + dir + " dogwatch"},
	} {
		if c.in.File == "" && name != "both" {
			c.in.Open = func(string) (fs.File, error) { return nil, fs.ErrNotExist }
		}
		c.in.Environ = append(c.in.Environ, "HOME="+dir)
		loaded, err := Load(c.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := loaded.Command(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
