package compose

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// layout is a project of testdata, in a directory of its own.
type layout struct {
	dir, old, new, code string
	cli                 bool // whether Debian's Compose 1.29 reads it
	project             Project
	want                map[string]string
}

// readLayout reads a project and writes its files.
func readLayout(t *testing.T, path string) layout {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := layout{dir: t.TempDir(), cli: true, want: map[string]string{}}
	head := map[string]string{}
	for line := range strings.SplitSeq(string(archive.Comment), "\n") {
		key, value, _ := strings.Cut(line, ": ")
		head[key] = value
	}
	l.old, l.new, l.code, l.cli = head["old"], head["new"], head["code"], head["cli"] != "no"
	var names []string
	for _, f := range archive.Files {
		text := string(f.Data)
		if head["crlf"] != "" {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if head["bom"] != "" {
			text = "\uFEFF" + text
		}
		if name, found := strings.CutPrefix(f.Name, "want/"); found {
			l.want[name] = text
			continue
		}
		if strings.HasPrefix(f.Name, "compose") {
			names = append(names, f.Name)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(l.dir, f.Name)), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(l.dir, f.Name), text)
	}
	l.project, err = Locate(map[string]string{
		LabelService: "web", labelWorkingDir: l.dir, labelFiles: strings.Join(names, ","),
	}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree returns every file below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func layouts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/layouts/*.txtar")
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d layouts, %v", len(paths), err)
	}
	return paths
}

func TestEditChangesOneTextOfALayout(t *testing.T) {
	for _, path := range layouts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			l := readLayout(t, path)
			before := tree(t, l.dir)
			c, err := Edit(l.project, l.old, l.new, nil)
			if codeOf(err) != l.code || (err == nil) != (l.code == "") {
				t.Fatalf("got %v, want the code %q", err, l.code)
			}
			if err != nil {
				return
			}
			if strings.Contains(c.Diff, "geheim") {
				t.Errorf("the diff shows a secret:\n%s", c.Diff)
			}
			if _, err := c.Apply(false, nil); err != nil {
				t.Fatal(err)
			}
			after := tree(t, l.dir)
			for name, text := range before {
				want, changed := l.want[name]
				if !changed {
					want = text
				}
				if after[name] != want {
					t.Errorf("%s is\n%s\nwant\n%s", name, after[name], want)
				}
			}
			if len(after) != len(before) {
				t.Errorf("files are left over: %d, were %d", len(after), len(before))
			}
			again, err := Edit(l.project, l.new, l.new, nil)
			if err != nil || !again.Empty() {
				t.Errorf("a second edit: %+v, %v", again, err)
			}
			if err := c.Undo(nil); err != nil {
				t.Fatal(err)
			}
			for name, text := range tree(t, l.dir) {
				if before[name] != text {
					t.Errorf("%s differs after the undo", name)
				}
			}
		})
	}
}

// TestComposeAgreesOnTheImage compares with what Debian's Compose reads from the changed files.
func TestComposeAgreesOnTheImage(t *testing.T) {
	image := composeReader(t)
	for _, path := range layouts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			l := readLayout(t, path)
			if l.code != "" || !l.cli {
				t.Skip("not for Compose 1.29")
			}
			if got := image(t, l); !sameImage(got, l.old) && !sameImage(got, l.new) {
				t.Fatalf("before: Compose reads %s, want %s", got, l.old)
			}
			c, err := Edit(l.project, l.old, l.new, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Apply(false, nil); err != nil {
				t.Fatal(err)
			}
			if got := image(t, l); !sameImage(got, l.new) {
				t.Errorf("Compose reads %s, want %s", got, l.new)
			}
		})
	}
}

// composeProgram runs commands of Compose 1.29, one for each line of the standard input, and writes a line for each:
// most of a command's time goes into loading what Compose consists of.
const composeProgram = `
import contextlib, io, json, os, sys
from compose.cli.main import main
for line in sys.stdin:
    request, code = json.loads(line), None
    sys.argv = ["docker-compose"] + request["args"]
    os.chdir(request["dir"])
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            main()
        except SystemExit as end:
            code = end.code
    print(json.dumps({"out": out.getvalue(), "code": str(code or "")}), flush=True)
`

// composeReader returns what asks Debian's Compose for the image of the service of a layout.
func composeReader(t *testing.T) func(*testing.T, layout) string {
	t.Helper()
	path, err := exec.LookPath("docker-compose")
	if err != nil {
		plugintest.Skip(t, "docker-compose", err)
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(script), "\n")
	interpreter, isScript := strings.CutPrefix(first, "#!")
	if !isScript {
		plugintest.Skip(t, "docker-compose", path+" is not Compose 1.29, which is a script")
	}
	cmd := exec.Command(interpreter, "-c", composeProgram)
	cmd.Stderr = os.Stderr
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("Compose: %v", err)
		}
	})
	requests, answers := json.NewEncoder(stdin), json.NewDecoder(stdout)
	return func(t *testing.T, l layout) string {
		t.Helper()
		args := []string{"--project-directory", l.dir}
		for _, file := range l.project.Files {
			args = append(args, "-f", file)
		}
		var answer struct{ Out, Code string }
		err := requests.Encode(map[string]any{"dir": l.dir, "args": append(args, "config")})
		if err := errors.Join(err, answers.Decode(&answer)); err != nil || answer.Code != "" {
			t.Fatalf("docker-compose config: %v, %s", err, answer.Code)
		}
		var config struct {
			Services map[string]struct{ Image string }
		}
		if err := yaml.Unmarshal([]byte(answer.Out), &config); err != nil {
			t.Fatal(err)
		}
		return config.Services["web"].Image
	}
}
