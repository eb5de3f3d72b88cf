package main

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// onSmallDisk runs a command where DISK is a file system of its own of some size, with a copy of the folder FROM. It
// prints the command's exit code, and the files there before and after it, but for locks and what a database has beside
// it while it is open.
const onSmallDisk = `
mount -t tmpfs -o "size=$SIZE" tmpfs "$DISK"
cp -a "$FROM/." "$DISK"
files() { (
	cd "$DISK"
	find . ! -name '*.lock' ! -name '*.db-shm' ! -name '*.db-wal' \
		\( -type d -o -exec cksum {} + \) -print | sort
); }
files >"$OUT/before"
status=0
"$@" >"$OUT/said" 2>&1 || status=$?
files >"$OUT/after"
echo "$status" >"$OUT/status"
`

// TestFullDisk: a command that finds no room says so, and leaves what was there and nothing of what it began.
func TestFullDisk(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		plugintest.Skip(t, "mount", string(out))
	}
	earlier, latest := storeFile(t, -1), storeFile(t, 0)
	big := t.TempDir() // a store and a plugin that are larger than the disk
	put(t, filepath.Join(big, "store", "dogwatch.db"), latest)
	put(t, filepath.Join(big, "plugins", "large"), append([]byte("#!/bin/sh\n"), noise(2<<20)...))
	saved := filepath.Join(t.TempDir(), "saved")
	if out, err := dogwatchIn(t, big, "backup", saved).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	small := filepath.Join(t.TempDir(), "small") // for which there is room, but not for what was there as well
	little := t.TempDir()
	put(t, filepath.Join(little, "store", "dogwatch.db"), latest)
	if out, err := dogwatchIn(t, little, "backup", small).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, c := range map[string]struct {
		size string
		// from has the store and the plugins that are on the disk.
		store, plugin []byte
		// home has the store and the plugins: the disk, unless it is given.
		home string
		args []string
		says string
	}{
		"backup": {"1m", nil, nil, big, []string{"backup", "DISK/saved"}, "no space left on device"},
		"restore": {"1m", latest, []byte("#!/bin/sh\n"), "", []string{"restore", saved},
			"nothing was changed: "},
		"restore, what was there": {"440k", latest, nil, "", []string{"restore", small}, "no space left on device"},
		"plugin install": {"1m", latest, []byte("#!/bin/sh\n"), "",
			[]string{"plugin", "install", "--yes", filepath.Join(big, "plugins", "large")}, "no space left on device"},
		"upgrade": {"280k", earlier, nil, "", []string{"serve"}, "before upgrading"},
	} {
		t.Run(name, func(t *testing.T) {
			from, disk, out := t.TempDir(), t.TempDir(), t.TempDir()
			if c.store != nil {
				put(t, filepath.Join(from, "store", "dogwatch.db"), c.store)
			}
			if c.plugin != nil {
				put(t, filepath.Join(from, "plugins", "lamp"), c.plugin)
			}
			home := c.home
			if home == "" {
				home = disk
			}
			var args []string
			for _, a := range c.args {
				args = append(args, strings.Replace(a, "DISK", disk, 1))
			}
			command := dogwatchIn(t, home, args...)
			cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "sh", "-euc", onSmallDisk, "sh"},
				command.Args...)...)
			cmd.Env = append(command.Env, "SIZE="+c.size, "FROM="+from, "DISK="+disk, "OUT="+out)
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			told := map[string]string{}
			for _, file := range []string{"before", "after", "said", "status"} {
				text, err := os.ReadFile(filepath.Join(out, file))
				if err != nil {
					t.Fatal(err)
				}
				told[file] = string(text)
			}
			if told["status"] != "1\n" || !strings.Contains(told["said"], c.says) {
				t.Errorf("exit code %s, without %q:\n%s", told["status"], c.says, told["said"])
			}
			if told["before"] != told["after"] {
				t.Errorf("there was\n%s\nand now\n%s", told["before"], told["after"])
			}
		})
	}
}

// storeFile returns a database of the latest schema, or of one so many before.
func storeFile(t *testing.T, before int) []byte {
	t.Helper()
	all, err := filepath.Glob("../../core/store/testdata/v??.db")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(all[len(all)-1+before])
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// noise returns so many bytes that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// dogwatchIn returns the program with its store and its plugins in a folder.
func dogwatchIn(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "dogwatch"), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "DOGWATCH_STORE_PATH=" + filepath.Join(dir, "store"),
		"DOGWATCH_PLUGINS_DIR=" + filepath.Join(dir, "plugins"), "DOGWATCH_SERVER_PORT=1"}
	return cmd
}
