package containerlog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/docker/docker/pkg/stdcopy"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const stamp = "2026-11-28T06:00:00.5Z "

// texts returns the texts of lines, those of the standard error with a mark.
func texts(lines []watcher.LogLine) (all []string) {
	for _, l := range lines {
		mark := ""
		if l.Stderr {
			mark = "! "
		}
		all = append(all, mark+l.Text)
	}
	return all
}

func same(text string) string { return text }

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	out, bad := stdcopy.NewStdWriter(&b, stdcopy.Stdout), stdcopy.NewStdWriter(&b, stdcopy.Stderr)
	for _, m := range []string{"gone\n", "one\n", "a long ", "line\n"} {
		_, _ = out.Write([]byte(stamp + m))
		if m == "a long " { // of which the rest comes later
			_, _ = bad.Write([]byte(stamp + "between\n"))
		}
	}
	_, _ = out.Write([]byte("no time"))
	r := &tail{most: 4}
	if err := r.readFrames(bytes.NewReader(append(b.Bytes(), 1, 0, 0))); err != nil { // cut within a frame
		t.Fatal(err)
	}
	lines := r.finish(same)
	if got, want := strings.Join(texts(lines), "|"), "one|a long line|! between|no time"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if lines[0].At.IsZero() || !lines[3].At.IsZero() {
		t.Errorf("got %+v", lines)
	}
}

func TestTextOfTerminal(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	r := &tail{most: 9}
	if err := r.readText(strings.NewReader(stamp + "10%\r20%\r\n" + stamp + long + "\n" + stamp + "unended")); err != nil {
		t.Fatal(err)
	}
	got := texts(r.finish(same))
	if len(got) != 3 || got[0] != "10% 20%" || got[1] != long[:maxLine]+"…" || got[2] != "unended" {
		t.Errorf("got %.200q", got)
	}
}

func TestBounds(t *testing.T) {
	r := &tail{most: watcher.MaxLogLines}
	for range 100 {
		r.add(false, strings.Repeat("x", 100_000))
	}
	if len(r.lines) != 1 || r.lines[0].text.Len() != maxRead {
		t.Errorf("a line without an end has %d bytes", r.lines[0].text.Len())
	}
	r.add(false, "\n")
	for range 100 {
		r.add(true, strings.Repeat("y", 20_000)+"\n")
	}
	if r.size > maxRead {
		t.Errorf("%d bytes are kept", r.size)
	}
	if got := r.finish(same); len(got) != maxLog/(maxLine+len("…")) {
		t.Errorf("got %d lines", len(got))
	}
}

// TestSecretsAtACut: a secret is blanked before a line is cut, so that no part of it is left.
func TestSecretsAtACut(t *testing.T) {
	r := &tail{most: 9}
	r.add(false, strings.Repeat("x", maxLine-4)+"t0ps3cret\n")
	got := r.finish(func(text string) string { return strings.ReplaceAll(text, "t0ps3cret", "***") })
	if strings.Contains(got[0].Text, "t0") || !strings.Contains(got[0].Text, "x***") {
		t.Errorf("got %q", got[0].Text[maxLine-10:])
	}
}
