package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/sdk"
)

const reference = "ghcr.io/me/app@sha256:1111111111111111111111111111111111111111111111111111111111111111"

var image = Image{
	Reference: reference, Digest: strings.TrimPrefix(reference, "ghcr.io/me/app@"), Platform: "linux/arm64",
	Host: "ghcr.io",
}

// script writes a program, and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const grypeReport = `{"matches":[{"vulnerability":{"id":"CVE-1","severity":"High"},"artifact":{"name":"ssl"}}],"source":{"target":{"userInput":"%s"}}}`

// TestPresets runs programs called trivy and grype, which note how they were called.
func TestPresets(t *testing.T) {
	for name, want := range map[string]string{
		config.Trivy: "image --quiet --format json --scanners vuln --timeout 1m0s --platform linux/arm64 " + reference,
		config.Grype: "--quiet --output json --platform linux/arm64 " + reference,
	} {
		path := script(t, name, `echo "$*" > "$HOME/words"; printf '`+fmt.Sprintf(grypeReport, reference)+`'`)
		t.Setenv("PATH", filepath.Dir(path)+":/usr/bin:/bin")
		t.Setenv("HOME", filepath.Dir(path))
		report, err := (&Command{Words: []string{name}, Timeout: time.Minute}).Scan(t.Context(), image)
		if err != nil || len(report.Findings) != 1 || !report.Is(image.Digest) {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if got, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "words")); strings.TrimSpace(string(got)) != want {
			t.Errorf("%s was called with %q, want %q", name, got, want)
		}
	}
}

// TestFailingScanners: each behaves as Trivy or Grype may.
func TestFailingScanners(t *testing.T) {
	t.Setenv("TOKEN_OF_ANOTHER", "s3cret")
	report := fmt.Sprintf(grypeReport, reference)
	for name, test := range map[string]struct{ text, want string }{
		"fails since it found something": {"printf '" + report + "'; echo 'discovered vulnerabilities' >&2; exit 2", ""},
		"fails": {"echo start >&2; echo 'FATAL: no such image' >&2; echo >&2; exit 1",
			"exit status 1 and no report: FATAL: no such image"},
		"fails with control characters":      {`printf '\033[31mred\033[0m\n' >&2; exit 1`, "no report: [31mred[0m"},
		"writes a log":                       {"echo 'INFO scanning'", "no report of Trivy or Grype"},
		"writes nothing":                     {"true", "ends too early"},
		"writes SARIF":                       {`echo '{"version":"2.1.0","runs":[]}'`, "no report of Trivy or Grype"},
		"breaks off":                         {`printf '{"matches":[{"vuln'`, "ends too early"},
		"is killed":                          {"kill -9 $$", "signal: killed"},
		"writes a hundred megabytes":         {`printf '{"matches":[{"x":"'; head -c 100000000 /dev/zero | tr '\0' x; printf '"}]}'`, "too large"},
		"writes for ever":                    {`printf '{"matches":['; yes '{"vulnerability":{"id":"CVE-1","description":"` + strings.Repeat("x", 5000) + `"}},'`, "too large"},
		"shows the environment":              {`env >&2; exit 1`, "no report"},
		"leaves a process behind that reads": {"printf '" + report + "'; sleep 600 &", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Command{Words: []string{script(t, "scanner", test.text), config.ImagePlaceholder}, Timeout: time.Minute}
			got, err := c.Scan(t.Context(), image)
			switch {
			case test.want == "" && (err != nil || len(got.Findings) != 1):
				t.Errorf("%+v, %v", got, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			case err != nil && (strings.Contains(err.Error(), "s3cret") || strings.ContainsAny(err.Error(), "\x1b\n")):
				t.Errorf("%q", err)
			}
		})
	}
	_, err := (&Command{Words: []string{"nosuchscanner"}, Timeout: time.Minute}).Scan(t.Context(), image)
	if err == nil || !strings.Contains(err.Error(), "there is no program nosuchscanner") {
		t.Error(err)
	}
}

func TestImagesCannotBecomeOptions(t *testing.T) {
	c := &Command{
		Words: []string{script(t, "scanner", `echo ran >&2; exit 1`), config.ImagePlaceholder}, Timeout: time.Minute,
	}
	for _, name := range []string{"", "--output=/etc/passwd", "a b", "a;reboot", "$(reboot)", "a\nb", "a/b@sha256:1 --x"} {
		if _, err := c.Scan(t.Context(), Image{Reference: name}); err == nil ||
			!strings.Contains(err.Error(), "no name of an image") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := c.Scan(t.Context(), Image{Reference: reference, Platform: "--x"}); err == nil ||
		!strings.Contains(err.Error(), "no name of an image") {
		t.Error(err)
	}
}

// TestHangingScannerIsEnded with all that it started: reading a pipe ends when no process holds its other end.
func TestHangingScannerIsEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("process groups are handled on Linux only")
	}
	for name, text := range map[string]string{
		"hangs":           "sleep 600 & sleep 600",
		"ignores SIGTERM": "trap '' TERM; (trap '' TERM; sleep 600) & while :; do sleep 1; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			opened := make(chan struct{})
			go func() {
				defer close(ended)
				f, err := os.Open(pipe)
				close(opened)
				if err == nil {
					_, _ = io.Copy(io.Discard, f)
					f.Close()
				}
			}()
			c := &Command{
				Words: []string{script(t, "scanner", "exec 9> '"+pipe+"'; "+text), config.ImagePlaceholder}, Timeout: time.Hour,
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-opened // it runs
				cancel()
			}()
			if _, err := c.Scan(ctx, image); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Error("a process is left")
			}
		})
	}
	c := &Command{
		Words: []string{script(t, "scanner", "sleep 600"), config.ImagePlaceholder}, Timeout: 50 * time.Millisecond,
	}
	if _, err := c.Scan(t.Context(), image); err == nil || !strings.Contains(err.Error(), "did not end within 50ms") ||
		errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestCredentialsAreInAFileOnly: not in the arguments or the environment, and gone afterwards.
func TestCredentialsAreInAFileOnly(t *testing.T) {
	t.Setenv("CHOSEN", "yes")
	t.Setenv("OTHER", "no")
	out := t.TempDir()
	path := script(t, "scanner",
		`cp "$DOCKER_CONFIG/config.json" "`+out+
			`/config.json"; ls -ld "$DOCKER_CONFIG" "$DOCKER_CONFIG/config.json" > "`+out+`/modes"
echo "$*" > "`+out+`/words"; env > "`+out+`/env"; printf '`+fmt.Sprintf(grypeReport, reference)+`'`)
	private := image
	private.Credentials = sdk.Credentials{Username: "me", Password: "s3cret"}
	c := &Command{Words: []string{path, config.ImagePlaceholder}, Env: []string{"CHOSEN"}, Timeout: time.Minute}
	if _, err := c.Scan(t.Context(), private); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var written struct {
		Auths map[string]struct{ Auth []byte }
	}
	if err := json.Unmarshal([]byte(read("config.json")), &written); err != nil ||
		string(written.Auths["ghcr.io"].Auth) != "me:s3cret" || len(written.Auths) != 1 {
		t.Errorf("%s, %v", read("config.json"), err)
	}
	if modes := read("modes"); !strings.HasPrefix(modes, "drwx------") || !strings.Contains(modes, "\n-rw-------") {
		t.Error(modes)
	}
	seen := read("words") + read("env")
	if strings.Contains(seen, "s3cret") || strings.Contains(seen, "OTHER=") || !strings.Contains(seen, "CHOSEN=yes") {
		t.Error(seen)
	}
	var folder string
	for line := range strings.Lines(read("env")) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "DOCKER_CONFIG="); is {
			folder = value
		}
	}
	if _, err := os.Stat(folder); folder == "" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q is left: %v", folder, err)
	}
}

func TestHubCredentials(t *testing.T) {
	folder, err := writeCredentials(Image{Host: "docker.io", Credentials: sdk.Credentials{Username: "me", Password: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if text, _ := os.ReadFile(filepath.Join(folder, "config.json")); !strings.Contains(string(text),
		"https://index.docker.io/v1/") {
		t.Errorf("%s", text)
	}
}

func TestReportsThatAreTooLargeAreRefused(t *testing.T) {
	var b strings.Builder
	for i := range vulnerability.MaxFindings + 1 {
		fmt.Fprintf(&b, `{"vulnerability":{"id":"CVE-%d"}},`, i)
	}
	file := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(file, []byte(`{"matches":[`+strings.TrimSuffix(b.String(), ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Command{Words: []string{script(t, "scanner", "cat "+file), config.ImagePlaceholder}, Timeout: time.Minute}
	if _, err := c.Scan(t.Context(), image); !errors.Is(err, vulnerability.ErrTooLarge) {
		t.Error(err)
	}
}
