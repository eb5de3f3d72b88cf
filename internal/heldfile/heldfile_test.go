package heldfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const content = "image: nginx:1.25\n"

// tree makes a folder with a file sub/deep/compose.yml and a foreign one of the same content,
// victim/deep/compose.yml, and returns it.
func tree(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	for _, path := range []string{"sub/deep", "victim/deep"} {
		check(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
		check(t, os.WriteFile(filepath.Join(dir, path, "compose.yml"), []byte(content), 0o600))
	}
	return dir
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path, nil)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
}

// untouched wants the folder of the foreign file as it was made.
func untouched(t *testing.T, dir string) {
	t.Helper()
	holds(t, filepath.Join(dir, "victim/deep/compose.yml"), content)
	found, err := os.ReadDir(filepath.Join(dir, "victim/deep"))
	if err != nil || len(found) != 1 {
		t.Errorf("the foreign folder has %v, %v", found, err)
	}
}

// TestExchangedFileIsNotWritten exchanges something between the reading and the writing.
func TestExchangedFileIsNotWritten(t *testing.T) {
	const file = "/sub/deep/compose.yml"
	swap := func(dir, name, aside, target string) error {
		return errors.Join(os.Rename(dir+name, dir+aside), os.Symlink(target, dir+name))
	}
	for name, c := range map[string]struct {
		exchange func(dir string) error
		// away is where the file is then; "" where it has no name of its own any more.
		away string
		// write is the error of Write, which writes what was opened all the same where a folder was exchanged.
		write error
	}{
		"the folder": {func(dir string) error {
			return swap(dir, "/sub/deep", "/aside", "../victim/deep")
		}, "aside/compose.yml", nil},
		"a folder above": {func(dir string) error {
			return swap(dir, "/sub", "/aside", "victim")
		}, "aside/deep/compose.yml", nil},
		"the file for a link": {func(dir string) error {
			return swap(dir, file, "/aside", "../../victim/deep/compose.yml")
		}, "aside", ErrChanged},
		"the file for a link in the folder": {func(dir string) error {
			return swap(dir, file, "/sub/deep/other", "other")
		}, "sub/deep/other", ErrChanged},
		"the file for another": {func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/new", []byte(content), 0o600), os.Rename(dir+"/new", dir+file))
		}, "", ErrChanged},
		"the file is removed": {func(dir string) error { return os.Remove(dir + file) }, "", ErrChanged},
		"nothing":             {func(string) error { return nil }, "sub/deep/compose.yml", nil},
	} {
		for _, inPlace := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in place %t", name, inPlace), func(t *testing.T) {
				dir := tree(t)
				path := filepath.Join(dir, "sub/deep/compose.yml")
				if inPlace {
					check(t, os.Link(path, filepath.Join(dir, "second")))
				}
				f := open(t, path)
				if data, err := f.Read(1 << 10); err != nil || string(data) != content {
					t.Fatalf("read %q, %v", data, err)
				}
				check(t, c.exchange(dir))
				if err := f.Check(); errors.Is(err, ErrChanged) != (name != "nothing") {
					t.Errorf("checked: %v", err)
				}
				in, err := f.Write([]byte("new"), 0)
				switch {
				case c.write == nil && err == nil && in == inPlace, c.write != nil && errors.Is(err, c.write):
				default:
					t.Errorf("written in place %t, %v, want %t, %v", in, err, inPlace, c.write)
				}
				want := content
				if c.write == nil {
					want = "new"
				}
				if c.away != "" {
					holds(t, filepath.Join(dir, c.away), want)
				}
				untouched(t, dir)
				if left, _ := filepath.Glob(filepath.Join(dir, "*/*/.*.dogwatch")); left != nil {
					t.Errorf("left over: %v", left)
				}
			})
		}
	}
}

// TestPlantedNamesAreReplaced puts something else where the partial file and the copy come.
func TestPlantedNamesAreReplaced(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"symbolic link": func(path, victim string) error { return os.Symlink(victim, path) },
		"second name":   func(path, victim string) error { return os.Link(victim, path) },
		"a file":        func(path, _ string) error { return os.WriteFile(path, []byte("x"), 0o666) },
		"folder":        func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t)
			victim := filepath.Join(dir, "victim/deep/compose.yml")
			f := open(t, filepath.Join(dir, "sub/deep/compose.yml"))
			check(t, plant(filepath.Join(dir, "sub/deep", f.partial()), victim))
			check(t, plant(filepath.Join(dir, "sub/deep/compose.yml.back"), victim))
			err := f.Copy("compose.yml.back", []byte("copy"))
			if (err != nil) != (name == "folder") {
				t.Errorf("copy: %v", err)
			}
			if err == nil {
				holds(t, filepath.Join(dir, "sub/deep/compose.yml.back"), "copy")
			}
			check(t, planted(plant(filepath.Join(dir, "sub/deep", f.partial()), victim)))
			if in, err := f.Write([]byte("new"), 0); err != nil || in {
				t.Errorf("written in place %t, %v", in, err)
			}
			holds(t, f.Path(), "new")
			check(t, planted(plant(filepath.Join(dir, "sub/deep/new"), victim)))
			if err := f.Create("new", []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
				t.Errorf("created over something else: %v", err)
			}
			untouched(t, dir)
		})
	}
}

func planted(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// TestGuardSeesEveryLink wants the guard asked about the file and each link on the way.
func TestGuardSeesEveryLink(t *testing.T) {
	dir := tree(t)
	check(t, os.Symlink(filepath.Join(dir, "sub"), filepath.Join(dir, "absolute")))
	check(t, os.Symlink("../victim/./deep/../../absolute", filepath.Join(dir, "sub/relative")))
	check(t, os.Symlink("compose.yml", filepath.Join(dir, "sub/deep/name")))
	real := filepath.Join(dir, "sub/deep/compose.yml")
	var asked []string
	f, err := Open(filepath.Join(dir, "sub/relative/deep/name"), func(path string) error {
		asked = append(asked, path)
		return nil
	})
	check(t, err)
	defer f.Close()
	want := []string{dir + "/sub/relative", dir + "/absolute", dir + "/sub/deep/name", real}
	if f.Path() != real || !slices.Equal(asked, want) {
		t.Errorf("opened %s, asked about %v, want %v", f.Path(), asked, want)
	}
	refused := errors.New("no")
	for _, path := range want {
		_, err := Open(filepath.Join(dir, "sub/relative/deep/name"), func(p string) error {
			if p == path {
				return refused
			}
			return nil
		})
		if !errors.Is(err, refused) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestResolveAgreesWithTheKernel resolves random trees of links.
func TestResolveAgreesWithTheKernel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir, err := filepath.EvalSymlinks(t.TempDir())
		check(t, err)
		names := []string{"a", "b", "c", "..", ".", "missing"}
		path := func() string {
			p := names[r.IntN(3)]
			for range r.IntN(4) {
				p += "/" + names[r.IntN(len(names))]
			}
			return p
		}
		for range 12 {
			p := filepath.Join(dir, path())
			switch r.IntN(4) {
			case 0:
				_ = os.MkdirAll(p, 0o755)
			case 1:
				_ = os.WriteFile(p, nil, 0o600)
			case 2:
				_ = os.Symlink(path(), p)
			case 3:
				_ = os.Symlink(filepath.Join(dir, path()), p)
			}
		}
		for range 20 {
			p := filepath.Join(dir, path())
			want, err := filepath.EvalSymlinks(p)
			got, err2 := resolve(p, nil)
			missing, missing2 := errors.Is(err, fs.ErrNotExist), errors.Is(err2, fs.ErrNotExist)
			if want != got || (err == nil) != (err2 == nil) || missing != missing2 {
				t.Fatalf("seed %d: %s leads to %q, %v; want %q, %v", seed, p, got, err2, want, err)
			}
		}
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := tree(t)
	for path, want := range map[string]error{
		dir: ErrNotRegular, "/": ErrNotRegular, filepath.Join(dir, "missing/compose.yml"): fs.ErrNotExist,
	} {
		if f, err := Open(path, nil); !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v, want %v", path, f, err, want)
		}
	}
	f := open(t, filepath.Join(dir, "sub/deep/compose.yml"))
	if _, err := f.Read(3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if data, err := f.Read(int64(len(content))); err != nil || string(data) != content {
		t.Errorf("read %q, %v", data, err)
	}
}

// TestWriteGoesOn writes one file several times, as an update that is taken back does.
func TestWriteGoesOn(t *testing.T) {
	for _, second := range []bool{false, true} {
		dir := tree(t)
		path := filepath.Join(dir, "sub/deep/compose.yml")
		if second {
			check(t, os.Link(path, filepath.Join(dir, "second")))
		}
		f := open(t, path)
		for _, text := range []string{"longer than it was before\n", "short", "", content} {
			in, err := f.Write([]byte(text), 0)
			if err != nil || in != second {
				t.Errorf("in place %t, %v", in, err)
			}
			check(t, f.Check())
			holds(t, path, text)
			if data, err := f.Read(1 << 10); err != nil || string(data) != text {
				t.Errorf("read %q, %v", data, err)
			}
		}
	}
}
