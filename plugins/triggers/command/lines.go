package command

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// maxOutput is how much of each stream is logged.
	maxOutput = 64 << 10
	// maxLine is where a longer line is broken.
	maxLine = 4 << 10
)

// lines is a writer that hands on whole lines, until it has seen maxOutput bytes.
type lines struct {
	mu         sync.Mutex
	write      func(line string)
	unfinished []byte // the beginning of a line that has not ended
	left       int
	over       bool
	last       string // the last line that is not blank
}

func newLines(write func(line string)) *lines { return &lines{write: write, left: maxOutput} }

// Write takes everything, so that the command never waits for its output to be read.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	if n > l.left {
		l.over = true
		p = p[:l.left]
	}
	l.left -= len(p)
	for len(p) > 0 {
		text, after, ended := bytes.Cut(p, []byte("\n"))
		l.unfinished, p = append(l.unfinished, text...), after
		if ended {
			l.flush()
		}
	}
	return n, nil
}

// end hands on an unfinished last line. Nothing may be written after it.
func (l *lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unfinished) > 0 {
		l.flush()
	}
	if l.over {
		l.write("(the rest of the output is left out)")
	}
}

func (l *lines) flush() {
	text := strings.ToValidUTF8(strings.TrimRight(string(l.unfinished), "\r"), "\uFFFD")
	l.unfinished = l.unfinished[:0]
	if strings.TrimSpace(text) != "" {
		l.last = text
	}
	for len(text) > maxLine {
		end := maxLine
		for !utf8.RuneStart(text[end]) {
			end--
		}
		l.write(text[:end])
		text = text[end:]
	}
	l.write(text)
}
