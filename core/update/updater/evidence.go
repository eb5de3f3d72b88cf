package updater

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// evidenceLimit is how many bytes of the texts of an evidence are stored, evidenceLines how many lines of its log.
	evidenceLimit = 16 << 10
	evidenceLines = 50
	// healthChecks and healthLimit bound the results of health checks, statusLimit what else is said.
	healthChecks = 5
	healthLimit  = 1 << 10
	statusLimit  = 1 << 10
	// eventLines and eventLimit are how much of the log is in the event, and so in messages.
	eventLines = 10
	eventLimit = 1 << 10
)

// kept returns what is stored of an evidence: without secrets, and no more than there is room
// for. Secrets are blanked first, since half of one is not found.
func kept(e *watcher.Evidence, redact func(string) string) *watcher.Evidence {
	if e == nil {
		return nil
	}
	k := &watcher.Evidence{
		Container: end(redact(e.Container), statusLimit), Status: end(redact(e.Status), statusLimit),
		ExitCode: e.ExitCode,
		Error:    end(redact(e.Error), statusLimit),
	}
	room := evidenceLimit - len(k.Container) - len(k.Status) - len(k.Error)
	for _, h := range e.Health[max(0, len(e.Health)-healthChecks):] {
		h.Output = end(strings.TrimSpace(redact(h.Output)), healthLimit)
		room -= len(h.Output)
		k.Health = append(k.Health, h)
	}
	k.Log = lastLines(redact(e.Log), evidenceLines, room)
	return k
}

// logOf returns what an event tells of the log of a new container that did not work.
func logOf(e *watcher.Evidence) string {
	if e == nil {
		return ""
	}
	return lastLines(e.Log, eventLines, eventLimit)
}

// lastLines returns the last lines of a text, as many as there is room for.
func lastLines(text string, most, room int) string {
	lines := strings.Split(strings.TrimRight(text, " \n"), "\n")
	lines = lines[max(0, len(lines)-most):]
	size := len(lines) - 1
	for _, l := range lines {
		size += len(l)
	}
	for len(lines) > 1 && size > room {
		size -= len(lines[0]) + 1
		lines = slices.Delete(lines, 0, 1)
	}
	return end(strings.Join(lines, "\n"), room)
}

// end returns the end of a text, with an ellipsis for what is missing before it.
func end(text string, limit int) string {
	const missing = "…"
	if len(text) <= limit {
		return text
	}
	from := len(text) - limit + len(missing)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return missing + text[from:]
}
