package compose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
)

// Command is the compose command for one service of a project.
type Command struct {
	// Tool is how compose is called: "docker", "compose", or "docker-compose".
	Tool []string
	// Project is the project's name.
	Project string
	Service string
	// Files, WorkingDir and EnvFiles are as in Project; EnvFiles is empty for .env.
	Files      []string
	WorkingDir string
	EnvFiles   []string `json:",omitempty"`
	// Profiles are those of the service.
	Profiles []string `json:",omitempty"`
	// Scale is how many containers the service has.
	Scale int
	// First is true for Compose 1, the one in Python.
	First bool `json:",omitempty"`
}

// findLimit bounds how long the command may take to say its version.
const findLimit = 10 * time.Second

// FindTool returns how compose is called here.
func FindTool(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	if path, err := exec.LookPath("docker"); err == nil &&
		exec.CommandContext(ctx, path, "compose", "version").Run() == nil {
		return []string{"docker", "compose"}, nil
	}
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return []string{"docker-compose"}, nil
	}
	return nil,
		errors.New("neither docker compose nor docker-compose is there where Dogwatch runs: add it to the image, or use compose=edit")
}

// IsFirst reports whether a tool is Compose 1. A docker-compose may be either.
func IsFirst(ctx context.Context, tool []string) bool {
	if len(tool) > 1 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	version, err := exec.CommandContext(ctx, tool[0], "version", "--short").Output()
	return err == nil && strings.HasPrefix(string(version), "1.")
}

// Misfit says why this compose cannot recreate a container; "" when it can. modern is
// true for engines since 25 (API 1.44): they leave out what Compose 1 reads of an image.
func (c Command) Misfit(modern bool) string {
	if c.First && modern {
		return "docker-compose 1 cannot recreate containers of Docker Engine 25 or later: install Compose 2, or use compose=edit"
	}
	return ""
}

// NewCommand returns the command for a located project; name is the project's.
func NewCommand(tool []string, p Project, name string, scale int) Command {
	c := Command{Tool: tool, Project: name, Service: p.Service, Files: p.Files, WorkingDir: p.WorkingDir, Scale: scale}
	if p.Named {
		c.EnvFiles = p.EnvFiles
	}
	return c
}

// Check returns nil if the reader lets through what the command reads, or its error. An env
// file may be absent.
func (c Command) Check(read Reader) error {
	env := c.EnvFiles
	if len(env) == 0 {
		env = []string{filepath.Join(c.WorkingDir, ".env")}
	}
	for _, path := range slices.Concat(c.Files, env) {
		if _, err := read(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ReadError(path, err)
		}
	}
	return nil
}

// Text is the command as a user writes it.
func (c Command) Text() string {
	return strings.Join(c.Tool, " ") + " up --detach --no-deps " + c.Service
}

// Up returns the arguments that create the containers of the service anew if their
// configuration or image changed, and start them if start is true.
func (c Command) Up(start bool) []string {
	args := []string{"up", "--no-deps", "--no-build"}
	if start {
		args = append(args, "--detach")
	} else {
		args = append(args, "--no-start")
	}
	if !c.First { // the image is there, whatever the file's pull policy is; Compose 1 has neither
		args = append(args, "--pull", "never")
	}
	if c.Scale > 1 { // otherwise compose removes all but as many as the file says
		args = append(args, "--scale", c.Service+"="+strconv.Itoa(c.Scale))
	}
	return append(args, c.Service)
}

// Hash returns the hash of the service's configuration, as compose stores it in a label.
func (c Command) Hash(ctx context.Context, host string) (string, error) {
	out, err := c.Run(ctx, host, nil, "config", "--hash", c.Service)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == c.Service &&
			hashPattern().MatchString(fields[1]) {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("%s names no hash of %s", strings.Join(c.Tool, " "), c.Service)
}

func hashPattern() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) }

// outputLimit is how much of the output is kept, its end.
const outputLimit = 16 << 10

// killWait is how long the command has to end after it was killed.
const killWait = 5 * time.Second

// Run runs the command against the engine at host (as DOCKER_HOST has it) and returns
// its output. What is in hidden is in neither that nor the error. It ends with ctx, and with
// Dogwatch. Nothing of Dogwatch's own environment is passed on, which has its secrets.
func (c Command) Run(ctx context.Context, host string, hidden []string, args ...string) (string, error) {
	all := append(c.Tool[1:len(c.Tool):len(c.Tool)], "--project-name", c.Project, "--project-directory", c.WorkingDir)
	for _, file := range c.Files {
		all = append(all, "--file", file)
	}
	for _, file := range c.EnvFiles {
		all = append(all, "--env-file", file)
	}
	for _, name := range c.Profiles {
		all = append(all, "--profile", name)
	}
	cmd := exec.CommandContext(ctx, c.Tool[0], append(all, args...)...)
	cmd.Dir = c.WorkingDir
	cmd.Env = []string{"DOCKER_HOST=" + host}
	for _, name := range []string{"PATH", "HOME", "DOCKER_CONFIG", "TMPDIR"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	output := &secrets.Tail{Limit: outputLimit}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = killWait
	err := runGroup(cmd)
	text := secrets.WithoutColors(strings.ToValidUTF8(output.String(), ""))
	text = strings.TrimSpace(redact.New(hidden...).Blank(text))
	switch {
	case ctx.Err() != nil:
		return text, fmt.Errorf("%s was stopped: %w", strings.Join(c.Tool, " "), context.Cause(ctx))
	case err != nil:
		return text, fmt.Errorf("%s %s: %w: %s", strings.Join(c.Tool, " "), args[0], err, lastLines(text))
	}
	return text, nil
}

// lastLines is the end of an output on one line.
func lastLines(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if surplus := len(line) - 400; surplus > 0 {
		line = "…" + strings.ToValidUTF8(line[surplus:], "")
	}
	return line
}

// Values returns the values of the env files of a project, which may be secret.
func (p Project) Values(read Reader) []string {
	if read == nil {
		read = ReadFile
	}
	var all []string
	for _, path := range p.EnvFiles {
		data, err := read(path)
		if err != nil {
			continue
		}
		for _, e := range parseEnv(data) {
			all = append(all, e.value)
		}
	}
	return all
}
