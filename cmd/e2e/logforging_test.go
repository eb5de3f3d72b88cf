package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// entryForm is how a line of the text log begins.
var entryForm = regexp.MustCompile(`^[0-9-]{10}T[0-9:.]+(Z|[+-][0-9]{4}) \[[A-Z]+\] `)

// TestLabelsCannotForgeLogOrTerminal runs commands on a container whose label
// keys and values, which the author of an image sets, hold line feeds, escape
// sequences and bidirectional controls.
func TestLabelsCannotForgeLogOrTerminal(t *testing.T) {
	t.Parallel()
	const forged = "2026-01-01T00:00:00.000Z [ERROR] auth: login failed: client=10.0.0.1"
	f := newFleet(t, 1, registrysim.Options{ETags: true})
	labels := map[string]string{"dogwatch.display.name": "\x1b]0;title\x07\u202eevil"}
	for _, prefix := range []string{"dogwatch.", "wud."} {
		for _, bad := range []string{"tag.includ\n" + forged, "trigger\r" + forged, "link.\x1b[2J\u009b2J",
			"watch\u202e.digest\u2028"} {
			labels[prefix+bad] = "x\n" + forged + "\x1b[2J"
		}
	}
	labels["dogwatch.tag.include"] = "(\n" + forged + "\x1b[2J"
	_, err := f.engine.Create(enginesim.Container{
		Name: "bad", Image: f.hosts[0] + "/" + f.repo(0) + ":1.0.0", Labels: labels,
	})
	must(t, err)
	path, err := built()
	must(t, err)
	for _, args := range [][]string{
		{"check", "--log-level", "trace"}, {"check", "local/bad"}, {"explain", "local/bad", "--all"},
		{"explain", "local/bad", "--log-level", "trace"}, {"explain", "x\x1b[2J\n" + forged}, {"\x1b[2J"},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(path, args...)
		cmd.Env = append(f.env(), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "DOGWATCH_STORE_PATH="+shortDir(t),
			"DOGWATCH_LOG_FORMAT=text")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // some fail, as they should
		logged := 0
		for line := range strings.Lines(stdout.String() + stderr.String()) {
			if strings.HasPrefix(line, forged) {
				t.Errorf("%q prints the line %q", args, line)
			}
			if i := strings.IndexFunc(line, func(c rune) bool {
				return c != '\n' && c != '\t' && !unicode.IsGraphic(c)
			}); i >= 0 {
				t.Errorf("%q prints %q", args, line[i:])
			}
			if entryForm.MatchString(line) {
				logged++
			}
		}
		if strings.Contains(args[len(args)-1], "trace") && logged < 10 {
			t.Errorf("%q logged %d lines:\n%s", args, logged, stderr.String())
		}
	}
}
