package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
)

func TestScanner(t *testing.T) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for name, text := range map[string]string{"grype": "echo Application: grype", "broken": "exit 3", "own": "exit 0"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		command []string
		level   Level
		detail  string
	}{
		{[]string{"trivy"}, Fail, "there is no program trivy"},
		{[]string{"grype"}, OK, "Application: grype"},
		{[]string{"own", "${image}"}, OK, "own is there"},
	} {
		e := examination{Options{Config: &config.Config{Settings: config.Settings{Scan: config.Scan{Command: test.command}}}}}
		if got := e.scanner(t.Context()); len(got) != 1 || got[0].Level != test.level ||
			!strings.Contains(got[0].Detail, test.detail) {
			t.Errorf("%q: %+v", test.command, got)
		}
	}
	if err := os.Rename(filepath.Join(dir, "broken"), filepath.Join(dir, "trivy")); err != nil {
		t.Fatal(err)
	}
	e := examination{Options{Config: &config.Config{}}}
	if got := e.scanner(t.Context()); got != nil {
		t.Errorf("without a scanner: %+v", got)
	}
	e.Config.Scan.Command = []string{"trivy"}
	if got := e.scanner(t.Context()); len(got) != 1 || got[0].Level != Fail ||
		!strings.Contains(got[0].Detail, "exit status 3") {
		t.Errorf("%+v", got)
	}
}
