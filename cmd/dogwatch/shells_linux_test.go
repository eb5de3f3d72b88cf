package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// bashCompletion is what bash needs for completions of any program (Debian: bash-completion).
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// atHome is the environment of a user who has the program and a database of
// two containers, in which a login is asked for.
func atHome(t *testing.T) (dir string, environ []string) {
	t.Helper()
	dir = t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, "dogwatch.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var change event.Change
	for _, name := range []string{"proxy", "wiki"} {
		change.Put = append(change.Put, sdk.Container{
			ID: name, Watcher: "local", Name: name, Image: sdk.Image{Name: "library/" + name, Tag: sdk.Tag{Value: "1"}},
		})
	}
	if err := s.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, []string{
		"HOME=" + dir, "PATH=" + binaries + ":/usr/bin:/bin", "TERM=dumb", "LANG=C.UTF-8", "PS1=ready> ",
		"DOGWATCH_STORE_PATH=" + dir, "DOGWATCH_STORE_FILE=dogwatch.db",
		"DOGWATCH_AUTH_BASIC_MAIN_USER=ana",
		"DOGWATCH_AUTH_BASIC_MAIN_HASH=$2y$04$abcdefghijklmnopqrstuuJ3JtIjCpQ0LzqO6Rr7DqXhDN8oUvWWu",
		"DOGWATCH_SERVER_PORT=1",
	}
}

// typedWords are what a person types, up to the Tab key, and what stands there after it.
var typedWords = map[string]string{
	"dogwatch expl":                            "dogwatch explain ",
	"dogwatch explain pro":                     "dogwatch explain proxy ",
	"dogwatch check --form":                    "dogwatch check --format ",
	"dogwatch check --format ma":               "dogwatch check --format markdown ",
	"dogwatch plugin describe trigger.nt":      "dogwatch plugin describe trigger.ntfy ",
	"dogwatch plugin test registry.hub.pub":    "dogwatch plugin test registry.hub.public ",
	"dogwatch explain nobody-is-called-so":     "dogwatch explain nobody-is-called-so",
	"dogwatch -c x.yaml plugin restart regist": "dogwatch -c x.yaml plugin restart registry ",
}

// TestCompletionInBashAndZsh presses the Tab key in both shells, on a terminal.
func TestCompletionInBashAndZsh(t *testing.T) {
	for name, shell := range map[string]struct {
		command []string
		setUp   string
		needs   string
	}{
		"bash": {[]string{"bash", "--norc", "--noprofile", "-i"},
			". " + bashCompletion + "; . <(dogwatch completion bash)", bashCompletion},
		"zsh": {[]string{"zsh", "-f", "-i", "-o", "no_prompt_sp"},
			"autoload -U compinit; compinit -u -D; . <(dogwatch completion zsh)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(shell.command[0]); err != nil {
				plugintest.Skip(t, name, err)
			}
			if _, err := os.Stat(shell.needs); shell.needs != "" && err != nil {
				plugintest.Skip(t, name, err)
			}
			dir, environ := atHome(t)
			ours, theirs := pseudoTerminal(t, 200)
			cmd := exec.CommandContext(t.Context(), shell.command[0], shell.command[1:]...)
			cmd.Dir, cmd.Env = dir, environ
			cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			p := &person{t: t, ours: ours, seen: make(chan string, 1000)}
			go p.read()
			p.await("ready> ")
			p.write(shell.setUp + "; echo set''up\r")
			p.await("setup")
			for typed, want := range typedWords {
				p.await("ready> ")
				// The line as it stands after Tab is not run but printed: from its start, quoted, to its end.
				p.write(typed + "\t\x05>'\x01echo '<\r")
				p.await("\n<")
				// zsh takes the space behind a whole word back when no other word follows.
				if got := strings.TrimSpace(p.await(">\r\n")); got != strings.TrimSpace(want) {
					t.Errorf("%q becomes %q, want %q", typed, got, want)
				}
			}
			p.await("ready> ")
			p.write("exit\r")
			_ = cmd.Wait() // of no interest: the shell was left
		})
	}
}

// person sits before a terminal.
type person struct {
	t    *testing.T
	ours *os.File
	seen chan string
	text string
}

func (p *person) read() {
	defer close(p.seen)
	in := bufio.NewReader(p.ours)
	for {
		c, _, err := in.ReadRune()
		if err != nil {
			return // the shell has ended
		}
		p.seen <- string(c)
	}
}

func (p *person) write(keys string) {
	p.t.Helper()
	if _, err := p.ours.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// await reads until a text has appeared, and returns what stood before it.
func (p *person) await(text string) (before string) {
	p.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		if at := strings.Index(p.text, text); at >= 0 {
			before, p.text = p.text[:at], p.text[at+len(text):]
			return before
		}
		select {
		case c, open := <-p.seen:
			if !open {
				p.t.Fatalf("the shell ended before it wrote %q: %q", text, p.text)
			}
			p.text += c
		case <-limit:
			p.t.Fatalf("the shell does not write %q: %q", text, p.text)
		}
	}
}

// TestCompletionInFish asks fish what it would offer.
func TestCompletionInFish(t *testing.T) {
	if _, err := exec.LookPath("fish"); err != nil {
		plugintest.Skip(t, "fish", err)
	}
	dir, environ := atHome(t)
	for typed, want := range typedWords {
		cmd := exec.CommandContext(t.Context(), "fish", "--no-config", "-c",
			"dogwatch completion fish | source; complete -C "+fmt.Sprintf("%q", typed))
		cmd.Dir, cmd.Env = dir, environ
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var offered []string
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			offered = append(offered, word)
		}
		expected := strings.Fields(want)
		last := expected[len(expected)-1]
		if known := strings.HasSuffix(want, " "); known != slices.Contains(offered, last) || len(offered) > 1 {
			t.Errorf("%q: %q is offered", typed, offered)
		}
	}
}
