package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnusablePluginsAreNamed: where a type is not known, commands name each file in the
// folder that may hold it, what is the matter with it, and the command that shows more.
func TestUnusablePluginsAreNamed(t *testing.T) {
	t.Parallel()
	folder := shortDir(t)
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"crashing": {"#!/bin/sh\necho 'the lamp is missing' >&2\nexit 1\n", 0o755},
		"greeting": {"#!/bin/sh\necho hello\n", 0o755},
		"plain":    {"#!/bin/sh\n", 0o644},
		"open":     {"#!/bin/sh\n", 0o777},
	} {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, []byte(file.text), file.mode))
		must(t, os.Chmod(path, file.mode)) // whatever the umask
	}
	in := install(t, "DOGWATCH_PLUGINS_DIR="+folder, "DOGWATCH_TRIGGER_LAMP_MAIN_URL=http://lamp.example.com")
	for _, args := range [][]string{{"plugin", "test", "trigger.lamp.main"}, {"plugin", "describe", "trigger.lamp"},
		{"config", "validate"}} {
		stdout, stderr, code := in.run(args...)
		said := stdout + stderr
		if code == 0 {
			t.Errorf("%q succeeds: %s", args, said)
		}
		for _, want := range []string{"dogwatch plugin list", "crashing is ", "the lamp is missing",
			"greeting is rejected", `its first line on stdout is "hello"`, "plain is rejected", "chmod +x", "open is "} {
			if !strings.Contains(said, want) {
				t.Errorf("%q does not say %q: %s", args, want, said)
			}
		}
	}
}

// TestPluginsThatMayNotRunAreNamed: a file whose checksum is another one than was set, one that
// has none where others have, and one whose types another file has already, are named where
// their types are missing.
func TestPluginsThatMayNotRunAreNamed(t *testing.T) {
	t.Parallel()
	folder := shortDir(t)
	program, err := filePlugin()
	must(t, err)
	for _, name := range []string{"first", "second"} {
		copyFile(t, program, filepath.Join(folder, name))
	}
	changed := "DOGWATCH_PLUGINS_CHECKSUMS=first=" + strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		env  []string
		want []string
	}{
		"checksums": {[]string{changed, "DOGWATCH_PLUGINS_TRUST=pinned"},
			[]string{"first is untrusted", "is not the one in plugins.checksums.first", "second is untrusted",
				"not pinned: to run it, set plugins.checksums.second"}},
		"clash": {nil, []string{"is rejected", "which is held by", "first (not signed)", "second (not signed)"}},
	} {
		in := install(t,
			append(c.env, "DOGWATCH_PLUGINS_DIR="+folder, "DOGWATCH_TRIGGER_LAMP_MAIN_URL=http://lamp.example.com")...)
		for _, args := range [][]string{{"plugin", "test", "trigger.lamp.main"}, {"plugin", "describe", "trigger.lamp"},
			{"config", "validate"}} {
			stdout, stderr, code := in.run(args...)
			said := stdout + stderr
			if code == 0 {
				t.Errorf("%s: %q succeeds: %s", name, args, said)
			}
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("%s: %q does not say %q: %s", name, args, want, said)
				}
			}
		}
	}
}
