package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// entry is a line of the record.
type entry struct {
	At sdk.Time `json:"at"`
	// Delivery is the same for all entries of a delivery.
	Delivery string `json:"delivery,omitempty"`
	// What is "update", "test", or the type of an event.
	What      string         `json:"what"`
	Container string         `json:"container,omitempty"`
	ID        string         `json:"id,omitempty"`
	Image     string         `json:"image,omitempty"`
	Kind      string         `json:"kind,omitempty"`
	From      string         `json:"from,omitempty"`
	To        string         `json:"to,omitempty"`
	Diff      string         `json:"diff,omitempty"`
	Link      string         `json:"link,omitempty"`
	Decision  string         `json:"decision,omitempty"`
	Event     *trigger.Event `json:"event,omitempty"`
	// Previous is the SHA-256 of the line before this one.
	Previous string `json:"previous,omitempty"`
}

// entriesOf are the lines of a delivery. They hold no rendered message, whose links may be secrets.
func entriesOf(now sdk.Time, req trigger.Request) []entry {
	if req.Event != nil {
		return []entry{{At: now, Delivery: req.Delivery, What: req.Event.Type, Event: req.Event}}
	}
	var all []entry
	for _, c := range req.Containers {
		e := entry{
			At: now, Delivery: req.Delivery, What: "update", Container: c.Watcher + "/" + c.Name, ID: c.ID,
			Image: c.Image.Registry.Host + "/" + c.Image.Name,
			Kind:  c.UpdateKind.Kind, From: c.UpdateKind.LocalValue, To: c.UpdateKind.RemoteValue, Diff: c.UpdateKind.SemverDiff,
		}
		if req.Test {
			e.What = "test"
		}
		if c.Result != nil {
			e.Link = c.Result.Link
		}
		if c.Decision != nil {
			e.Decision = c.Decision.State
		}
		all = append(all, e)
	}
	return all
}

// record is the file that is written to.
type record struct {
	*os.File
	size int64
	tail []byte // lines at its end, to recognise what is there already
	last string // SHA-256 of its last line; "" when it is empty
}

// tailSize is how much of the end of a file is read.
const tailSize = 256 << 10

// open reads the end of the record. A line that a crash cut off stays as it is, on a line of its own.
func open(path string, write bool) (*record, error) {
	flags := os.O_RDWR | os.O_APPEND
	if write {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o640)
	if err != nil {
		return nil, err
	}
	r := &record{File: file}
	if r.size, err = file.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.tail = make([]byte, min(r.size, tailSize))
	if _, err := file.ReadAt(r.tail, r.size-int64(len(r.tail))); err != nil && err != io.EOF {
		return nil, errors.Join(err, file.Close())
	}
	if len(r.tail) > 0 && r.tail[len(r.tail)-1] != '\n' && write {
		if err := r.write([]byte("\n")); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	if text := bytes.TrimSuffix(r.tail, []byte("\n")); len(text) > 0 {
		r.last = sum(text[bytes.LastIndexByte(text, '\n')+1:])
	}
	return r, nil
}

// has reports whether an entry was written by an earlier try of its delivery.
func (r *record) has(e entry) bool {
	for line := range bytes.Lines(r.tail) {
		var old entry
		if e.Delivery != "" && json.Unmarshal(line, &old) == nil && old.Delivery == e.Delivery && old.ID == e.ID &&
			old.Container == e.Container && old.What == e.What {
			return true
		}
	}
	return false
}

func (r *record) append(e entry) error {
	e.Previous = r.last
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	r.last = sum(line)
	return r.write(append(line, '\n'))
}

func (r *record) write(text []byte) error {
	n, err := r.Write(text)
	r.size += int64(n)
	r.tail = append(r.tail, text[:n]...)
	return err
}

func sum(line []byte) string { return fmt.Sprintf("%x", sha256.Sum256(line)) }

// verify reads files of a record, the oldest first, and returns how many lines they
// have. Each line names the checksum of the one before it, also of one that a crash cut off.
func verify(paths []string) (lines int, err error) {
	previous := ""
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return lines, err
		}
		n := 0
		for line := range bytes.Lines(text) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			n, lines = n+1, lines+1
			var e entry
			if json.Unmarshal(line, &e) == nil && lines > 1 && e.Previous != previous {
				return lines, fmt.Errorf("%s:%d: the line before this one was changed, or one is missing", path, n)
			}
			previous = sum(line)
		}
	}
	return lines, nil
}
