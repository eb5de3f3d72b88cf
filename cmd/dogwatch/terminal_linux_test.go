package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// pseudoTerminal returns both ends of a terminal that has so many columns, see pty(7).
func pseudoTerminal(t testing.TB, columns uint16) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		plugintest.Skip(t, "terminal", err)
	}
	t.Cleanup(func() { ours.Close() })
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		plugintest.Skip(t, "terminal", err)
	}
	if err := unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// TestTerminal runs check on a real terminal: it has colours unless they are
// not wanted, and nothing is wider than it.
func TestTerminal(t *testing.T) {
	lab, err := openHomelab(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lab.close() })
	for name, c := range map[string]struct {
		columns uint16
		env     string
		colours bool
	}{
		"wide":         {120, "TERM=xterm", true},
		"narrow":       {34, "TERM=xterm", true},
		"NO_COLOR":     {80, "NO_COLOR=1", false},
		"dumb":         {80, "TERM=dumb", false},
		"not a screen": {0, "TERM=xterm", true}, // a terminal that does not know its size has 80 columns
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := pseudoTerminal(t, c.columns)
			cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "dogwatch"), "check")
			cmd.Dir = t.TempDir()
			cmd.Env = append(lab.environment(), "HOME="+cmd.Dir, "DOGWATCH_STORE_PATH="+cmd.Dir, c.env)
			cmd.Stdout = theirs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			read, _ := io.ReadAll(ours) // ends with an error once the other end is closed
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, read)
			}
			out := strings.ReplaceAll(string(read), "\r\n", "\n")
			if got := strings.Contains(out, "\x1b[31m"); got != c.colours {
				t.Errorf("colours: %v\n%s", got, out)
			}
			columns := int(c.columns)
			if columns == 0 {
				columns = 80
			}
			plain := out
			for _, sgr := range []string{"0", "1", "31", "32", "33", "34", "35"} {
				plain = strings.ReplaceAll(plain, "\x1b["+sgr+"m", "")
			}
			if strings.Contains(plain, "\x1b") || !strings.Contains(plain, "dashboards") {
				t.Errorf("%q", plain)
			}
			for line := range strings.Lines(plain) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
					t.Errorf("%d columns on a terminal of %d: %q", n, columns, line)
				}
			}
		})
	}
}

// TestTerminalShowsProgress: while a registry hangs, the terminal shows how many containers are checked.
func TestTerminalShowsProgress(t *testing.T) {
	t.Parallel()
	lab, err := openHomelab(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	respond := make(chan struct{})
	release := sync.OnceFunc(func() { close(respond) })
	defer release()
	lab.sites[quaySite].Inject(registrysim.Any, -1, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-respond:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	ours, theirs := pseudoTerminal(t, 100)
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "dogwatch"), "check")
	cmd.Dir = t.TempDir()
	cmd.Env = append(lab.environment(), "HOME="+cmd.Dir, "DOGWATCH_STORE_PATH="+cmd.Dir, "TERM=xterm")
	cmd.Stderr = theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	want := fmt.Sprintf("Checking: %d of %d containers in ", len(lab.apps)-3, len(lab.apps))
	var read strings.Builder
	seen := false
	for part := make([]byte, 4096); ; {
		n, err := ours.Read(part)
		read.Write(part[:n])
		if !seen && strings.Contains(read.String(), want) {
			seen = true
			release()
		}
		if err != nil {
			break // once the other end is closed
		}
	}
	if err := cmd.Wait(); err != nil || !seen {
		t.Errorf("%v: the terminal never said %q:\n%q", err, want, read.String())
	}
}

// converse runs a command on a terminal beside a server, and answers questions in their order. It returns what the
// terminal read, the exit code, and how many questions were asked.
func converse(t *testing.T, s *updatesServer, args, questions, answers []string) (read string, code, asked int) {
	t.Helper()
	server := httptest.NewServer(s.handler())
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pseudoTerminal(t, 100)
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "dogwatch"), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "DOGWATCH_STORE_PATH=" + cmd.Dir, "DOGWATCH_SERVER_PORT=" + at.Port(),
		"TERM=xterm"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	var all strings.Builder
	for part := make([]byte, 4096); ; {
		n, err := ours.Read(part)
		all.Write(part[:n])
		if asked < len(answers) && strings.Contains(all.String(), questions[asked]+" [y/N]") {
			asked++
			if _, err := ours.WriteString(answers[asked-1] + "\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break // once the other end is closed
		}
	}
	_ = cmd.Wait()
	return all.String(), cmd.ProcessState.ExitCode(), asked
}

// TestTerminalConfirmsAnUpdate: on a terminal update wants one yes, shows how far the pull
// is in a line that goes away, and does nothing without a yes.
func TestTerminalConfirmsAnUpdate(t *testing.T) {
	for input, code := range map[string]int{"y": 0, "n": 1, "": 1} {
		t.Run("input "+input, func(t *testing.T) {
			t.Parallel()
			s := &updatesServer{}
			questions := []string{"Carry out the update of web?"}
			read, got, asked := converse(t, s, []string{"update", "web"}, questions, []string{input})
			if got != code || asked != 1 {
				t.Errorf("exit code %d, want %d:\n%q", got, code, read)
			}
			const progress = "\r\x1b[K    Downloading, 1.2 MB of 12.3 MB\r\x1b[K"
			if shown := strings.Contains(read, progress); shown != (code == 0) {
				t.Errorf("progress was shown: %t\n%q", shown, read)
			}
			if begun := len(s.operations) > 0; begun != (code == 0) {
				t.Errorf("an operation was begun: %t", begun)
			}
		})
	}
}

// TestTerminalAsksOnceMoreAboutAMajorUpdate, unless the flag has answered.
func TestTerminalAsksOnceMoreAboutAMajorUpdate(t *testing.T) {
	questions := []string{"Carry out the update of pg?",
		"pg goes to another major version, docker.io/library/pg:2.0. Carry it out all the same?"}
	for about, c := range map[string]struct {
		args, answers []string
		code          int
	}{
		"twice yes":         {[]string{"update", "pg"}, []string{"y", "y"}, 0},
		"yes, and then no":  {[]string{"update", "pg"}, []string{"y", "n"}, 3},
		"with the flag":     {[]string{"update", "pg", "--major"}, []string{"y"}, 0},
		"the smaller one":   {[]string{"update", "pg", "--version", "1.6"}, []string{"y"}, 0},
		"no to the first":   {[]string{"update", "pg"}, []string{"n"}, 1},
		"only the download": {[]string{"update", "pg", "--dry-run"}, []string{"y"}, 0},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			s := &updatesServer{}
			read, code, asked := converse(t, s, c.args, questions, c.answers)
			if code != c.code || asked != len(c.answers) || strings.Count(read, "[y/N]") != len(c.answers) {
				t.Errorf("exit code %d, want %d; %d questions:\n%q", code, c.code, asked, read)
			}
			if begun := len(s.operations) > 0; begun != (c.code == 0) {
				t.Errorf("an operation was begun: %t", begun)
			}
		})
	}
}
