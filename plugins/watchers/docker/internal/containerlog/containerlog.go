// Package containerlog reads the end of what a container, or the tasks of a service, wrote into lines that a user can
// see. What comes in is an engine and an id; only the watchers of this plugin import it.
//
// Protocol facts are from https://docs.docker.com/reference/api/engine/ (ContainerLogs and ContainerAttach, for the
// frames) and from daemon/logger of https://github.com/moby/moby: a message has 16 KiB at most, and one of a longer line
// ends without a line feed.
package containerlog

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docker/docker/pkg/stdcopy"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/internal/secrets"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// timeout bounds the requests to the engine.
	timeout = 15 * time.Second
	// taskTimeout bounds the one for the log of a task, which may be on a node that does not answer.
	taskTimeout = 5 * time.Second
	// maxRead is how much of the end of a log is looked at, and of one line, in bytes. Secrets are taken out before
	// the text is cut further, since a part of a secret would not be found.
	maxRead = 1 << 20
	// maxLog and maxLine are how much of a log and of a line is returned, in bytes.
	maxLog  = 64 << 10
	maxLine = 8 << 10
)

// idForm is that of what becomes a part of the path of a request.
var idForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Read returns the end of what a container wrote; see watcher.LogReader.
func Read(ctx context.Context, e *engine.Engine, req watcher.LogRequest) (watcher.Log, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := CheckID(req.ContainerID); err != nil {
		return watcher.Log{}, err
	}
	c, err := e.Container(ctx, req.ContainerID)
	if err != nil {
		return watcher.Log{}, err
	}
	if c.ContainerJSONBase == nil || c.HostConfig == nil || c.Config == nil {
		return watcher.Log{}, sdk.WithKind(sdk.ErrUnavailable, errors.New("the engine does not describe the container"))
	}
	driver := c.HostConfig.LogConfig.Type
	if driver == "none" { // Podman responds with an error of the server
		return watcher.Log{UnreadableDriver: driver}, nil
	}
	t, err := read(ctx, e, engine.LogRequest{Container: c.ID, Lines: req.Lines}, c.Config.Tty)
	switch {
	case engine.HasStatus(err, http.StatusNotImplemented):
		return watcher.Log{UnreadableDriver: cmp.Or(driver, "of the engine")}, nil
	case err != nil:
		return watcher.Log{}, err
	}
	hide := secrets.Hiding(slices.Concat(c.Config.Env, c.Config.Entrypoint, c.Config.Cmd))
	return watcher.Log{Lines: t.finish(hide)}, nil
}

// CheckID returns an sdk.ErrNotFound for what cannot be the id of a container, or of a service.
func CheckID(id string) error {
	if !idForm().MatchString(id) {
		return sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("%q is not the id of a container", id))
	}
	return nil
}

// read reads the end of a log.
func read(ctx context.Context, e *engine.Engine, req engine.LogRequest, tty bool) (*tail, error) {
	req.Lines, req.Timestamps = min(max(req.Lines, 1), watcher.MaxLogLines), true
	t := &tail{most: req.Lines}
	if tty {
		return t, e.Log(ctx, req, t.readText)
	}
	return t, e.Log(ctx, req, t.readFrames)
}

// line is one under way.
type line struct {
	watcher.LogLine
	text    strings.Builder
	dropped bool
}

// tail keeps the last lines of a log, of maxRead bytes together.
type tail struct {
	most  int
	lines []*line
	size  int
	// open are the lines of standard output and error that have not ended yet; nil for none.
	open [2]*line
}

// readFrames reads the messages of a container without a terminal. A frame has one message, and is written at once.
func (t *tail) readFrames(r io.Reader) error {
	_, err := stdcopy.StdCopy(frames{t, false}, frames{t, true}, r)
	return err
}

// frames takes the messages of one stream.
type frames struct {
	*tail
	stderr bool
}

func (f frames) Write(p []byte) (int, error) {
	f.add(f.stderr, string(p))
	return len(p), nil
}

// readText reads the messages of a container with a terminal, which are lines.
func (t *tail) readText(r io.Reader) error {
	in := bufio.NewReaderSize(r, 32<<10)
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			t.add(false, string(part))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// add takes a message, or a part of one.
func (t *tail) add(stderr bool, message string) {
	at, text := cutTime(message)
	text, ended := strings.CutSuffix(text, "\n")
	open := &t.open[0]
	if stderr {
		open = &t.open[1]
	}
	if *open == nil {
		*open = &line{LogLine: watcher.LogLine{At: at, Stderr: stderr}}
		t.lines = append(t.lines, *open)
	}
	l := *open
	if n := min(len(text), maxRead-l.text.Len()); n > 0 && !l.dropped {
		l.text.WriteString(text[:n])
		t.size += n
	}
	if ended {
		*open = nil
	}
	for len(t.lines) > t.most || t.size > maxRead && len(t.lines) > 1 {
		t.lines[0].dropped = true
		t.size -= t.lines[0].text.Len()
		t.lines = t.lines[1:]
	}
}

// cutTime returns when a message was written, and the rest of it.
func cutTime(message string) (sdk.Time, string) {
	stamp, text, found := strings.Cut(message, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if !found || err != nil {
		return sdk.Time{}, message
	}
	return sdk.TimeOf(at), text
}

// finish returns the lines as users may see them.
func (t *tail) finish(hide func(string) string) []watcher.LogLine {
	texts := make([]string, len(t.lines))
	for i, l := range t.lines {
		texts[i] = plain(l.text.String())
	}
	texts = redact.Lines(texts, hide)
	lines := make([]watcher.LogLine, len(texts))
	for i, l := range t.lines {
		lines[i] = l.LogLine
		lines[i].Text = clip(texts[i])
	}
	return end(lines, t.most)
}

// end returns the last lines, of maxLog bytes together.
func end(all []watcher.LogLine, most int) []watcher.LogLine {
	size, first := 0, len(all)
	for first > 0 && len(all)-first < most {
		if size += len(all[first-1].Text); size > maxLog {
			break
		}
		first--
	}
	return all[first:]
}

// escapes are the sequences of a terminal (ECMA-48): those with parameters, strings such as titles, and short ones.
var escapes = lazyregexp.New(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])`)

// plain returns what can be seen of a line.
func plain(text string) string {
	text = escapes().ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	return visible.Line(strings.TrimRight(text, "\r"))
}

// clip cuts a line that is too long.
func clip(text string) string {
	if len(text) <= maxLine {
		return text
	}
	end := maxLine
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
