package logging

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/wake"
)

const (
	// recentMax bounds the entries that are kept, and recentBytes their text altogether.
	recentMax, recentBytes = 1000, 256 << 10
	// entryMax bounds the text of one entry, in bytes.
	entryMax = 4 << 10
)

// Recent keeps the last entries of the log in memory: 1,000 of them or 256 KiB, whichever is less. It is a writer of
// redacted entries, one in each Write. Its methods may be called concurrently.
type Recent struct {
	mu      sync.Mutex
	entries []string // the oldest first
	bytes   int
	written wake.Signal
}

// NewRecent returns one that is empty.
func NewRecent() *Recent { return &Recent{written: wake.New()} }

// Entry is one of the log.
type Entry struct {
	At time.Time `json:"at"`
	// Level is "trace", "debug", "info", "warn" or "error".
	Level string `json:"level"`
	// Part is the name of the logger: "check", "plugin.watchers"; "" for none.
	Part string `json:"part,omitempty"`
	// Message is what it says, with its values: "check finished: containers=12".
	Message string `json:"message"`
}

// Write keeps an entry; it never fails.
func (r *Recent) Write(p []byte) (int, error) {
	entry := strings.ToValidUTF8(string(p[:min(len(p), entryMax)]), "")
	r.mu.Lock()
	r.entries = append(r.entries, entry)
	r.bytes += len(entry)
	drop := 0
	for ; len(r.entries)-drop > recentMax || r.bytes > recentBytes; drop++ {
		r.bytes -= len(r.entries[drop])
	}
	r.entries = slices.Delete(r.entries, 0, drop)
	r.mu.Unlock()
	r.written.Set()
	return len(p), nil
}

// Written has a value when entries were written since the last one was received.
func (r *Recent) Written() <-chan struct{} { return r.written }

// Filter chooses entries.
type Filter struct {
	// Part is the name of a logger, whose sub-loggers it includes; "" for all.
	Part string
	// Level is the least severe level; hclog.NoLevel for all.
	Level hclog.Level
	// Limit bounds how many there are, the newest ones; 0 for all.
	Limit int
}

// Entries returns the entries that a filter chooses, the newest first, and the names of all parts that have one.
func (r *Recent) Entries(f Filter) (found []Entry, parts []string) {
	r.mu.Lock()
	entries := slices.Clone(r.entries)
	r.mu.Unlock()
	slices.Reverse(entries)
	named := map[string]bool{}
	for _, text := range entries {
		e := parseEntry(text)
		part, _, _ := strings.Cut(e.Part, ".")
		named[part] = true
		within := f.Part == "" || e.Part == f.Part || strings.HasPrefix(e.Part, f.Part+".")
		if within && hclog.LevelFromString(e.Level) >= f.Level && (f.Limit == 0 || len(found) < f.Limit) {
			found = append(found, e)
		}
	}
	delete(named, "")
	return found, slices.Sorted(maps.Keys(named))
}

// parseEntry reads an entry as go-hclog writes it: text, or JSON with keys that begin with @.
func parseEntry(text string) Entry {
	text = strings.TrimRight(text, "\n")
	if strings.HasPrefix(text, "{") {
		if e, ok := parseJSON(text); ok {
			return e
		}
	}
	e := Entry{Level: "info", Message: Sanitize(text)}
	at, rest, _ := strings.Cut(text, " [")
	level, rest, leveled := strings.Cut(rest, "]")
	when, err := time.Parse("2006-01-02T15:04:05.000Z0700", at)
	if err != nil || !leveled {
		return e // of another format: all of it is the message
	}
	e.At, e.Level, e.Message = when, strings.ToLower(level), strings.TrimLeft(rest, " ")
	if part, message, named := strings.Cut(e.Message, ": "); named && !strings.ContainsAny(part, " =\n") {
		e.Part, e.Message = part, message
	}
	e.Message = Sanitize(e.Message)
	return e
}

func parseJSON(text string) (Entry, bool) {
	var values map[string]any
	if json.Unmarshal([]byte(text), &values) != nil {
		return Entry{}, false
	}
	field := func(name string) string {
		text, _ := values[name].(string)
		delete(values, name)
		return text
	}
	e := Entry{Level: cmp.Or(field("@level"), "info"), Part: field("@module"), Message: field("@message")}
	e.At, _ = time.Parse(time.RFC3339Nano, field("@timestamp"))
	for i, name := range slices.Sorted(maps.Keys(values)) {
		separator := " "
		if i == 0 {
			separator = ": "
		}
		e.Message += fmt.Sprintf("%s%s=%v", separator, name, values[name])
	}
	e.Message = Sanitize(e.Message)
	return e, true
}
