package install_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// childFolder has the test binary install and go back in that folder until it is killed.
const childFolder = "DOGWATCH_TEST_INSTALL_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		fmt.Println(churn(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *install.Folder {
	t.Helper()
	f, err := install.Open(t.Context(), dir)
	must(t, err)
	t.Cleanup(f.Close)
	return f
}

func program(version string) string { return "#!/bin/sh\n# " + version + "\n" }

// release writes a plugin as its publisher does, signed by a key unless it is nil.
func release(t *testing.T, name, version string, private *minisign.PrivateKey) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(program(version)), 0o644))
	if private != nil {
		stamp(t, path, "dogwatch-plugin "+name+" "+version+" ", *private)
	}
	return path
}

func request(path string) install.Request {
	return install.Request{Source: artifact.Source{File: path}}
}

func stage(ctx context.Context, f *install.Folder, r install.Request) (*install.Staged, error) {
	return f.Fetch(ctx, artifact.Fetcher{Platform: artifact.Here()}, r)
}

func put(t *testing.T, f *install.Folder, r install.Request) *install.Staged {
	t.Helper()
	s, err := stage(t.Context(), f, r)
	must(t, err)
	must(t, f.Install(s))
	return s
}

// holds fails unless a folder has these files, with the given text, and nothing else
// but the pins and the lock.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if e.Name() == ".installed.json" || e.Name() == ".installed.lock" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		expected, known := want[e.Name()]
		if !known || err != nil || string(text) != expected {
			t.Errorf("%s holds %q (%v), want %q", e.Name(), text, err, expected)
		}
		delete(want, e.Name())
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

func TestInstallUpdateRollbackRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	f := open(t, dir)
	first := put(t, f, request(release(t, "lamp", "1", nil)))
	if first.Before != nil || first.Current() {
		t.Errorf("the first one is %+v", first)
	}
	info, err := os.Stat(filepath.Join(dir, "lamp"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("its mode is %v, %v", info, err)
	}
	second := put(t, f, request(release(t, "lamp", "2", nil)))
	if second.Before == nil || second.Before.SHA256 != first.SHA256 {
		t.Errorf("the second replaces %+v", second.Before)
	}
	f.Close()
	holds(t, dir, map[string]string{"lamp": program("2"), ".lamp.previous": program("1")})

	f = open(t, dir)
	back, err := f.Rollback("lamp")
	if err != nil || back.SHA256 != first.SHA256 {
		t.Errorf("rolled back to %+v, %v", back, err)
	}
	f.Close()
	holds(t, dir, map[string]string{"lamp": program("1"), ".lamp.previous": program("2")})
	found, err := install.Read(dir)
	if err != nil || len(found) != 1 || found[0].Name != "lamp" || found[0].SHA256 != first.SHA256 ||
		found[0].Previous != second.Ref || found[0].Changed {
		t.Errorf("installed is %+v, %v", found, err)
	}

	f = open(t, dir)
	must(t, f.Remove("lamp"))
	if err := f.Remove("lamp"); err == nil || !strings.Contains(err.Error(), "lamp was not installed") {
		t.Errorf("removed twice: %v", err)
	}
	f.Close()
	holds(t, dir, map[string]string{})
}

func TestFetchRefusesAndLeavesTheFolder(t *testing.T) {
	_, ours, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	_, theirs, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	key := func(private minisign.PrivateKey) artifact.Key {
		k, err := artifact.ParseKey(private.Public().(minisign.PublicKey).String())
		must(t, err)
		return k
	}
	with := func(r install.Request, change func(*install.Request)) install.Request {
		change(&r)
		return r
	}
	dir := t.TempDir()
	f := open(t, dir)
	first := request(release(t, "lamp", "1", &ours))
	first.Want.Key = key(ours)
	put(t, f, first)
	must(t, os.WriteFile(filepath.Join(dir, "mine"), []byte(program("mine")), 0o755))

	for name, test := range map[string]struct {
		request install.Request
		says    string
	}{
		"unsigned":    {request(release(t, "lamp", "2", nil)), "it is not signed"},
		"another key": {request(release(t, "lamp", "2", &theirs)), "it is signed by another key"},
		"key given": {with(request(release(t, "lamp", "2", &theirs)), func(r *install.Request) {
			r.Want.Key = key(theirs)
		}), "to accept it, add --new-key"},
		"by hand":  {request(release(t, "mine", "2", nil)), "put there by hand: to replace it, add --replace"},
		"built in": {request(release(t, "trigger", "2", nil)), "belongs to a built-in plugin"},
		"leaves": {with(request(release(t, "lamp", "2", nil)), func(r *install.Request) {
			r.Want.Name = "../lamp"
		}), "leaves the folder"},
		"swapped": {with(request(release(t, "x", "2", nil)), func(r *install.Request) {
			r.Want.Digest = "sha256:00"
		}), "it is another file"},
		"missing":         {request(filepath.Join(dir, "none")), "cannot be read"},
		"not even a file": {request(dir), "is not a regular file"},
	} {
		if _, err := stage(t.Context(), f, test.request); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
	accepted := with(request(release(t, "lamp", "2", &theirs)), func(r *install.Request) {
		r.Want.Key, r.NewKey = key(theirs), true
	})
	s, err := stage(t.Context(), f, accepted)
	if err != nil || !s.FirstKey() {
		t.Errorf("a new key: %+v, %v", s, err)
	}
	f.Close()
	holds(t, dir, map[string]string{"lamp": program("1"), "mine": program("mine")})
}

func TestReplaceKeepsWhatWasPutByHand(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "lamp"), []byte(program("mine")), 0o755))
	f := open(t, dir)
	r := request(release(t, "lamp", "1", nil))
	r.Replace = true
	put(t, f, r)
	if _, err := f.Rollback("lamp"); err != nil {
		t.Error(err)
	}
	f.Close()
	holds(t, dir, map[string]string{"lamp": program("mine"), ".lamp.previous": program("1")})
}

func TestOpenWaitsForTheOther(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := install.Open(ctx, dir); err == nil ||
		!strings.Contains(err.Error(), "another command is installing plugins") {
		t.Errorf("a second one: %v", err)
	}
	f.Close()
	open(t, dir)
}

// churn installs two versions in turns, goes back and removes.
func churn(dir string) error {
	out := bufio.NewWriter(os.Stdout)
	for i := 0; ; i++ {
		f, err := install.Open(context.Background(), dir)
		if err != nil {
			return err
		}
		s, err := stage(context.Background(), f, request(filepath.Join(dir, "..", fmt.Sprint(i%2), "lamp")))
		if err == nil {
			err = f.Install(s)
		}
		if err == nil && i%3 == 2 {
			_, err = f.Rollback("lamp")
		}
		if err != nil {
			return err
		}
		f.Close()
		fmt.Fprintln(out, "round")
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// TestKillLeavesTheOldOrTheNew kills a process that installs at any moment.
func TestKillLeavesTheOldOrTheNew(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "plugins")
	for _, version := range []string{"0", "1"} {
		must(t, os.MkdirAll(filepath.Join(root, version), 0o755))
		must(t, os.WriteFile(filepath.Join(root, version, "lamp"), []byte(program(version)), 0o755))
	}
	for i := range 15 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childFolder+"="+dir)
		stdout, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		for range 3 { // so that two versions are there
			if !lines.Scan() || lines.Text() != "round" {
				t.Fatalf("it says %q", lines.Text())
			}
		}
		time.Sleep(time.Duration(i) * 300 * time.Microsecond) // anywhere in a round, which takes some milliseconds
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed

		text, err := os.ReadFile(filepath.Join(dir, "lamp"))
		if err != nil || !slices.Contains([]string{program("0"), program("1")}, string(text)) {
			t.Fatalf("after the kill lamp holds %q, %v", text, err)
		}
		f := open(t, dir)
		found := f.Installed()
		for range 2 {
			if _, err := f.Rollback("lamp"); err != nil {
				t.Fatalf("after the kill: %v", err)
			}
		}
		f.Close()
		if len(found) != 1 || found[0].Changed || found[0].Previous == "" {
			t.Fatalf("after the kill installed is %+v", found)
		}
		previous := program("0")
		if string(text) == previous {
			previous = program("1")
		}
		holds(t, dir, map[string]string{"lamp": string(text), ".lamp.previous": previous})
	}
}
