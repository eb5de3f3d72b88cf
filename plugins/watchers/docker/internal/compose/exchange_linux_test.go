package compose

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// exchangeEnv has the folder in which the test's own process exchanges names, see exchangeNames.
const exchangeEnv = "DOGWATCH_TEST_EXCHANGE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(exchangeEnv); dir != "" {
		if err := exchangeNames(dir, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// exchangeNames exchanges the names "sub" and "link" in a folder as soon as a given number of
// things has happened in dir/sub or dir/sub/deep (inotify(7)), or over and over again for the number 0. It
// reads the number, and says "ready"; by the next line it stops, and says how often it did.
func exchangeNames(dir string, in io.Reader, out io.Writer) error {
	sub, link := filepath.Join(dir, "sub"), filepath.Join(dir, "link")
	exchange := func() error { // atomic, see renameat2(2)
		return unix.Renameat2(unix.AT_FDCWD, sub, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var after int
		if _, err := fmt.Sscan(lines.Text(), &after); err != nil {
			return err
		}
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return err
		}
		for _, path := range []string{sub, filepath.Join(sub, "deep")} {
			if _, err := unix.InotifyAddWatch(fd, path, unix.IN_ALL_EVENTS); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		stop, stopped := make(chan bool), make(chan int)
		go func() {
			done := 0
			defer func() { stopped <- done }()
			seen, buffer := 0, make([]byte, 4096)
			for after == 0 || done == 0 {
				select {
				case <-stop:
					return
				default:
				}
				if after > 0 {
					wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
					if n, _ := unix.Poll(wait, 1); n == 0 {
						continue
					}
					n, _ := unix.Read(fd, buffer)
					for at := 0; at+unix.SizeofInotifyEvent <= n; seen++ {
						at += unix.SizeofInotifyEvent + int(buffer[at+12]) // the length of a name
					}
				}
				if seen >= after && exchange() == nil {
					done++
				}
			}
			<-stop
		}()
		fmt.Fprintln(out, "ready")
		lines.Scan()
		stop <- true
		done := <-stopped
		unix.Close(fd)
		if done%2 == 1 {
			if err := exchange(); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, done)
	}
	return lines.Err()
}

// exchanger is the process that exchanges names.
type exchanger struct {
	in  io.Writer
	out *bufio.Scanner
}

func startExchanger(t *testing.T, dir string) *exchanger {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), exchangeEnv+"="+dir), os.Stderr
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &exchanger{in, bufio.NewScanner(out)}
}

func (e *exchanger) call(t *testing.T, line any) (answer string) {
	t.Helper()
	if _, err := fmt.Fprintln(e.in, line); err != nil || !e.out.Scan() {
		t.Fatalf("the exchanging process ended: %v", err)
	}
	return e.out.Text()
}

// TestApplyWhileTheFolderIsExchanged has another process exchange the folder of the compose
// file for a symbolic link to that of another stack, whose file is the same, while the
// first is written. The second is never changed, and the first is changed or as before.
func TestApplyWhileTheFolderIsExchanged(t *testing.T) {
	const tries, blind = 200, 50
	for _, deep := range []bool{false, true} { // the folder itself, or one above it
		t.Run(fmt.Sprintf("above %t", deep), func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			below := ""
			if deep {
				below = "deep"
			}
			path, victim := filepath.Join(dir, "sub", below), filepath.Join(dir, "victim", below)
			for _, d := range []string{path, victim} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			writeFile(t, filepath.Join(victim, "compose.yml"), webText)
			err = os.Chmod(filepath.Join(victim, "compose.yml"), 0o600)
			if err := errors.Join(err, os.Symlink("victim", filepath.Join(dir, "link"))); err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, victim)
			attacker := startExchanger(t, dir)
			exchanged, changed, kept := 0, 0, 0
			for try := range tries + blind {
				c, err := changeOf(t, path, webText, "nginx:1.25", "nginx:1.26").Prepared(nil)
				if err != nil {
					t.Fatal(err)
				}
				after := try % 20 // things that happen while it is written
				if try >= tries {
					after = 0
				}
				if got := attacker.call(t, after); got != "ready" {
					t.Fatal(got)
				}
				_, err = c.Apply(try%3 == 0, nil)
				if attacker.call(t, "stop") != "0" {
					exchanged++
				}
				if got := treeOf(t, victim); got != before {
					t.Fatalf("try %d, after %d: the foreign folder has\n%s\nwant\n%s", try, after, got, before)
				}
				want := webNew
				if err != nil {
					want = webText
					kept++
				} else {
					changed++
				}
				if wantFile(t, c.File, want); t.Failed() {
					t.Fatalf("try %d, after %d: applied with %v", try, after, err)
				}
				if _, err := os.Lstat(partial(c.File)); !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("try %d: a partial file is left over: %v", try, err)
				}
			}
			t.Logf("exchanged in %d of %d tries: %d times changed, %d times as before; the foreign file 0 times",
				exchanged, tries+blind, changed, kept)
			if exchanged < tries || changed == 0 || kept == 0 {
				t.Errorf("exchanged in %d tries, changed %d, kept %d", exchanged, changed, kept)
			}
		})
	}
}

// treeOf lists the files of a folder with their modes and contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range found {
		info, err := e.Info()
		data, err2 := os.ReadFile(filepath.Join(dir, e.Name()))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %q\n", info.Mode(), e.Name(), data)
	}
	return b.String()
}
