package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

const (
	// keptLines and keptText bound what is remembered of what a plugin writes to stderr.
	keptLines = 32
	keptText  = 300
	// shownLines is how many of the last lines an error has where none of them tells the cause.
	shownLines = 3
)

// lastLines remembers the last lines that a process wrote to stderr, and those around the last one
// that tells of a crash, which a long stack may follow. go-plugin writes each line, or
// piece of a long one, and its end in calls of their own.
type lastLines struct {
	mu    sync.Mutex
	lines []string
	crash []string
	cause int // in crash, of the line that says why
}

func (l *lastLines) Write(p []byte) (int, error) {
	written := p
	if bytes.HasPrefix(p, []byte("{")) { // a line of the log, see docs/plugins-other-languages.md
		var entry struct {
			Message string `json:"@message"`
			Error   string `json:"error"`
		}
		_ = json.Unmarshal(p, &entry) // nothing is to be shown of one that is no JSON
		written = []byte(strings.TrimSuffix(entry.Message+": "+entry.Error, ": "))
	}
	text := strings.ToValidUTF8(strings.TrimRight(string(written[:min(len(written), keptText)]), " \t\r\n"), "\uFFFD")
	if text == "" {
		return len(p), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, text)
	if len(l.lines) > keptLines {
		l.lines = l.lines[1:]
	}
	switch {
	case crashLine().MatchString(text):
		l.crash, l.cause = slices.Clone(l.lines), len(l.lines)-1
	case l.crash != nil && len(l.crash)-l.cause < keptLines:
		l.crash = append(l.crash, text)
	}
	return len(p), nil
}

// last returns the lines that are remembered.
func (l *lastLines) last() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// crashLine is the line of a crash that says why: Go's panics, Python's and Node's exceptions.
var crashLine = lazyregexp.New(`^(panic|fatal error|[\w.]*(Error|Exception)( \[\w+\])?): .`)

// crashPlace is a line of a stack with the place: Node's and Go's, after the line that says why, or Python's, before
// it.
var crashPlace = lazyregexp.New(`^\s+(?:at (?:.*\()?(?:file://)?(/[^():]+:\d+)(?::\d+)?\)?$|` +
	`(\S+\.go:\d+)(?: \+0x[0-9a-f]+)?$|File "([^"]+)", line (\d+))`)

// goRuntime is the place of a file of Go's runtime, which is where a crash is raised, and not its cause.
var goRuntime = lazyregexp.New(`(^|/)runtime/\w+\.go:`)

// crash is the line of a crash that says why, with the place in the program that is nearest to it.
func crash(lines []string, where int) string {
	place := func(line string) string {
		switch m := crashPlace().FindStringSubmatch(line); {
		case m == nil:
			return ""
		case m[1] != "":
			return " (" + path.Base(m[1]) + ")"
		case goRuntime().MatchString(m[2]):
			return ""
		case m[2] != "":
			return " (" + path.Base(m[2]) + ")"
		default:
			return " (" + path.Base(m[3]) + ":" + m[4] + ")"
		}
	}
	for _, line := range lines[where+1:] {
		if found := place(line); found != "" {
			return lines[where] + found
		}
	}
	for _, line := range slices.Backward(lines[:where]) {
		if found := place(line); found != "" {
			return lines[where] + found
		}
	}
	return lines[where]
}

// crashed is the line that says why the process crashed, and where; "" when none does.
func (l *lastLines) crashed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.crash == nil {
		return ""
	}
	return crash(l.crash, l.cause)
}

// String is the line that says why the process ended and where, or else its last lines.
func (l *lastLines) String() string {
	if why := l.crashed(); why != "" {
		return why
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-shownLines):], " | ")
}

var (
	// noHandshake is go-plugin's error for a first line that is no handshake.
	noHandshake = lazyregexp.New(`^Unrecognized remote plugin message: (.*)`)
	// badHandshake is its error for one with parts that it does not know.
	badHandshake = lazyregexp.New(`^(error parsing core protocol version|incompatible core API version|Error parsing protocol version|unsupported plugin protocol|unknown address type|error parsing server cert)`)
)

// explainStart says why a process did not become a plugin, in words of its own
// where it left some. The process has ended.
func (h *Host) explainStart(b bundle, c *child, wrote *lastLines, err error) error {
	if err := explainProtocol(b.name, err); !isPlain(err) {
		return err
	}
	if err := c.exceeded(); err != nil {
		return err
	}
	text := err.Error()
	first := noHandshake().FindStringSubmatch(text)
	switch {
	case errors.Is(err, goplugin.ErrChecksumsDoNotMatch):
		return err
	case errors.Is(err, syscall.ENOEXEC) && foreignPlatform(b.path) != "":
		return &rejectedError{fmt.Errorf("plugin %s is a program for %s, and this is %s/%s: get the one for this "+
			"machine", b.name, foreignPlatform(b.path), runtime.GOOS, runtime.GOARCH)}
	case errors.Is(err, syscall.ENOEXEC):
		return &rejectedError{fmt.Errorf("plugin %s is no program for %s/%s, and no script either: the first line of a script names its interpreter, as #!/usr/bin/env node does", b.name, runtime.GOOS, runtime.GOARCH)}
	case errors.Is(err, fs.ErrNotExist) && c.pid() == 0:
		where := ""
		if h.opt.Contained {
			where = "; the image of Dogwatch has no shell, Python, Node or C library: docs/plugins-install.md says " +
				"how to add one"
		}
		return fmt.Errorf("%w: if the file is there, then what runs it is not: the interpreter in the first line of "+
			"a script, or the loader of a program for another system%s", err, where)
	case first != nil && first[1] != "":
		return &rejectedError{fmt.Errorf("plugin %s is no plugin of Dogwatch: its first line on stdout is %q, and has to be the handshake, such as 1|1|unix|/path/of/its/socket|grpc", b.name, clip(first[1]))}
	case badHandshake().MatchString(text):
		line, _, _ := strings.Cut(text, "\n")
		return &rejectedError{fmt.Errorf("plugin %s is no plugin of Dogwatch, or writes its handshake in another way than docs/plugins-other-languages.md says: %s", b.name, line)}
	case strings.HasPrefix(text, "timeout while waiting for plugin to start"):
		err = fmt.Errorf("it wrote no handshake to stdout within %s", startTimeout)
	case first != nil || strings.HasPrefix(text, "plugin exited before we could connect"):
		err = fmt.Errorf("it ended while starting (%s)", strings.Replace(c.cmd.ProcessState.String(), "exit status", "exit code", 1))
	}
	output := wrote.String()
	hint := c.confined.hint(b.name, err.Error()+output)
	if output != "" {
		err = fmt.Errorf("%w; it wrote to stderr: %s", err, output)
	}
	if hint != "" {
		err = fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// startError is why a process did not become a plugin, with what it wrote last.
type startError struct {
	error
	output []string
}

func (e *startError) Unwrap() error { return e.error }

// noteOutput remembers what a process wrote that could not be started; nothing when it could.
func (s *Supervisor) noteOutput(err error) {
	var failed *startError
	var output []string
	if errors.As(err, &failed) {
		for _, line := range failed.output {
			output = append(output, s.host.opt.Redact(line))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output = output
}

func isPlain(err error) bool {
	var useless *rejectedError
	return !errors.As(err, &useless)
}

func clip(text string) string {
	if len(text) > keptText {
		return strings.ToValidUTF8(text[:keptText], "") + "…"
	}
	return text
}

// checkHealth refuses a plugin that cannot be asked whether it lives: it would be
// killed as one that hangs as soon as it missed some pings.
func checkHealth(b bundle, p *process) error {
	err := ping(p)
	switch status.Code(err) {
	case codes.OK:
		return nil
	case codes.Unimplemented, codes.NotFound:
		return &rejectedError{&unhealthyError{StageHealth,
			fmt.Errorf(`plugin %s does not say whether it lives: it must serve grpc.health.v1.Health, with SERVING for the service "plugin"`, b.name)}}
	case codes.Unavailable:
		return &unhealthyError{StageTLS,
			fmt.Errorf("it cannot be reached at the socket of its handshake, with the certificate that it was given: %s", status.Convert(err).Message())}
	}
	return &unhealthyError{StageHealth, fmt.Errorf("ask it whether it lives: %w", err)}
}
