// Package scan has the images of updates scanned for vulnerabilities by a program of the
// operator's, Trivy or Grype, one image at a time, and remembers what was found and how
// the new image compares with the one that runs. No scanner is part of Dogwatch.
//
// Scans are asked for by users; before an update that a rule has carried out; and for what
// is too young to be offered, where a rule wants security fixes at once.
package scan

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// Image is an image to scan.
type Image struct {
	// Reference names it by its digest: "ghcr.io/me/app@sha256:...".
	Reference string
	Digest    string
	// Platform is such as "linux/arm64"; "" where it is not known.
	Platform string
	// Host is that of its registry, and Credentials what that asks for, if the scanner may
	// have them.
	Host        string
	Credentials sdk.Credentials
}

// id is by what is known what was found in it.
func (i Image) id() string { return i.Digest + " " + i.Platform }

const (
	// grace is how long a scanner may take to end after SIGTERM before it is killed.
	grace = 5 * time.Second
	// maxErrors is how much is kept of what a scanner writes to its standard error, and
	// maxError of that in an error.
	maxErrors = 8 << 10
	maxError  = 300
)

// passedEnv are the variables of the environment that every scanner sees.
var passedEnv = []string{
	"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "SSL_CERT_FILE",
	"SSL_CERT_DIR", "DOCKER_HOST", "DOCKER_CONFIG",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// Command is a scanner that is a program.
type Command struct {
	// Words are the program and its arguments, or one of config.Trivy and config.Grype.
	Words []string
	// Env are names of variables that it sees besides passedEnv.
	Env     []string
	Timeout time.Duration
}

// NewCommand returns the scanner that the configuration asks for.
func NewCommand(c config.Scan) *Command {
	return &Command{Words: c.Command, Env: c.Env, Timeout: c.Timeout}
}

// Program returns the name of the program, or its path.
func (c *Command) Program() string { return c.Words[0] }

const platformPlaceholder = "${platform}"

// words returns the command line, with placeholders. What the scanners that are known by
// name understand: https://trivy.dev/docs/latest/references/configuration/cli/trivy_image/
// and https://github.com/anchore/grype#readme
func (c *Command) words(platform string) []string {
	if len(c.Words) > 1 {
		return c.Words
	}
	words := []string{c.Words[0], "image", "--quiet", "--format", "json", "--scanners", "vuln", "--timeout",
		c.Timeout.String()}
	if c.Words[0] == config.Grype {
		words = []string{c.Words[0], "--quiet", "--output", "json"}
	}
	if platform != "" {
		words = append(words, "--platform", platformPlaceholder)
	}
	return append(words, config.ImagePlaceholder)
}

// referenceForm keeps a reference from being taken for an option, or for several words by
// a script that does not quote it.
var referenceForm = lazyregexp.New(`^[A-Za-z0-9\[][A-Za-z0-9._:/@\[\]-]*$`)

// Scan runs the scanner for an image. Its exit code does not matter if it writes a report:
// scanners can be configured to fail when they find something. The error says what it wrote to
// its standard error last, if it wrote no report, and is ctx's error when that has ended.
func (c *Command) Scan(ctx context.Context, image Image) (vulnerability.Report, error) {
	if !referenceForm().MatchString(image.Reference) ||
		image.Platform != "" && !referenceForm().MatchString(image.Platform) {
		return vulnerability.Report{}, fmt.Errorf("%.200q cannot be scanned: it is no name of an image", image.Reference)
	}
	words := slices.Clone(c.words(image.Platform))
	fill := strings.NewReplacer(config.ImagePlaceholder, image.Reference, platformPlaceholder, image.Platform)
	for i := range words[1:] {
		words[i+1] = fill.Replace(words[i+1])
	}
	environ := c.environment()
	if image.Credentials != (sdk.Credentials{}) {
		folder, err := writeCredentials(image)
		if err != nil {
			return vulnerability.Report{}, fmt.Errorf("write the credentials for the scanner: %w", err)
		}
		defer os.RemoveAll(folder)
		environ = append(environ, "DOCKER_CONFIG="+folder) // of two settings the later counts
	}
	return c.run(ctx, words, environ)
}

// run runs a command line, and reads the report that it writes.
func (c *Command) run(caller context.Context, words, environ []string) (vulnerability.Report, error) {
	ctx, stop := context.WithTimeout(caller, c.Timeout)
	defer stop()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	output, into := io.Pipe()
	stderr := &tail{}
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = environ, into, stderr, grace
	var report vulnerability.Report
	var unread error
	read := make(chan struct{})
	go func() {
		defer close(read)
		if report, unread = vulnerability.Read(output); unread != nil {
			output.CloseWithError(unread) // whatever it still writes
			if errors.Is(unread, vulnerability.ErrTooLarge) {
				stop()
			}
		}
	}()
	err := runGroup(cmd)
	into.Close()
	<-read
	var exit *exec.ExitError
	switch {
	case caller.Err() != nil:
		return vulnerability.Report{}, fmt.Errorf("the scan was stopped: %w", caller.Err())
	case unread == nil && (err == nil || errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay)) && ctx.Err() == nil:
		return report, nil
	case errors.Is(unread, vulnerability.ErrTooLarge):
		return vulnerability.Report{}, unread
	case ctx.Err() != nil:
		return vulnerability.Report{},
			fmt.Errorf("%s did not end within %v and was stopped: raise scan.timeout if it needs longer", words[0], c.Timeout)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return vulnerability.Report{},
			fmt.Errorf("there is no program %s: install it, or give its path in scan.command", words[0])
	case errors.As(err, &exit):
		return vulnerability.Report{}, fmt.Errorf("%s ended with %s and no report%s", words[0], exit, stderr.last())
	case err != nil && unread == nil:
		return vulnerability.Report{}, fmt.Errorf("run %s: %w", words[0], err)
	}
	return vulnerability.Report{}, fmt.Errorf("read what %s wrote: %w%s", words[0], unread, stderr.last())
}

// environment is what a scanner sees: secrets that are not meant for it must not reach it.
func (c *Command) environment() (environ []string) {
	for _, names := range [][]string{passedEnv, c.Env} {
		for _, name := range names {
			if value, set := os.LookupEnv(name); set {
				environ = append(environ, name+"="+value)
			}
		}
	}
	return environ
}

// hubKey is the name of Docker Hub in config.json:
// https://docs.docker.com/reference/cli/docker/login/
const hubKey = "https://index.docker.io/v1/"

// writeCredentials writes a config.json that has the credentials of one registry only into
// a new folder, which no other user can read. On a command line or in the environment others
// could see them.
func writeCredentials(image Image) (folder string, err error) {
	host := image.Host
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = hubKey
	}
	auth := base64.StdEncoding.EncodeToString([]byte(image.Credentials.Username + ":" + image.Credentials.Password))
	text, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{"auth": auth}}})
	if err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp("", "dogwatch-scan-"); err != nil {
		return "", err
	}
	if err = os.WriteFile(filepath.Join(folder, "config.json"), text, 0o600); err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	return folder, nil
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

// Write takes everything, so that the scanner never waits.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[max(0, len(p)-maxErrors):]...)
	t.text = t.text[max(0, len(t.text)-maxErrors):]
	return len(p), nil
}

// last returns the last line that is not blank, behind a colon.
func (t *tail) last() string {
	lines := bytes.Split(t.text, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if text := vulnerability.Clean(string(line), maxError); text != "" {
			return ": " + text
		}
	}
	return ""
}
