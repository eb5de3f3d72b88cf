// Package logging builds the logger that every package of the host is handed,
// and sees to it that no secret is written, and no entry that others made up.
package logging

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// Options say what is logged, how and where.
type Options struct {
	// Level is the least severe level that is logged; "" means info.
	Level string
	// Levels override it for single names and what is below them, as name=level:
	// plugin=debug applies to plugin.triggers too. The longest name wins.
	Levels []string
	// Format is "json", or "text" for readers, which is also the default.
	Format string
	// Output receives each entry in one Write.
	Output io.Writer
	// Redactor blanks secrets in all that is logged.
	Redactor *Redactor
	// Recent, if set, keeps the last entries.
	Recent *Recent
}

// New returns the root logger. Its SetLevel, and that of every logger made from
// it which Levels do not name, changes the level of all these at once, while
// others log; those that Levels name keep theirs. The error names the level or
// format that is not known.
func New(o Options) (hclog.Logger, error) {
	levels, err := parseLevels(o.Level, o.Levels)
	if err != nil {
		return nil, err
	}
	if o.Format != "" && o.Format != "text" && o.Format != "json" {
		return nil, fmt.Errorf("log format %q: use text or json", o.Format)
	}
	// One logger per level that was asked for: what is made from it shares that
	// level, and moves to another of them when its name asks for it.
	var writing sync.Mutex
	var output io.Writer = entryWriter{o.Output}
	if o.Recent != nil {
		output = io.MultiWriter(o.Recent, output)
	}
	output = o.Redactor.Writer(output)
	loggers := make([]hclog.Logger, len(levels))
	for i, own := range levels {
		loggers[i] = hclog.New(&hclog.LoggerOptions{
			Level: own.level, Output: output, Mutex: &writing, JSONFormat: o.Format == "json",
			SubloggerHook: func(sub hclog.Logger) hclog.Logger {
				level := levels.levelOf(sub.Name())
				if level == i {
					return sub
				}
				return loggers[level].ResetNamed(sub.Name()).With(sub.ImpliedArgs()...)
			},
		})
	}
	return loggers[levels.levelOf("")], nil
}

// ParseLevel reads a level: trace, debug, info, warn, error or fatal (which is
// error: nothing here is logged only when the process exits). "" is info.
func ParseLevel(text string) (hclog.Level, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "trace":
		return hclog.Trace, nil
	case "debug":
		return hclog.Debug, nil
	case "info", "":
		return hclog.Info, nil
	case "warn":
		return hclog.Warn, nil
	case "error", "fatal":
		return hclog.Error, nil
	}
	return hclog.NoLevel, fmt.Errorf("log level %q: use trace, debug, info, warn, error or fatal", text)
}

// levels are the levels of names, the longest name first; the last is the root's, "".
type levels []namedLevel

type namedLevel struct {
	name  string
	level hclog.Level
}

func parseLevels(root string, named []string) (levels, error) {
	var parsed levels
	for _, entry := range append([]string{"=" + root}, named...) {
		name, text, _ := strings.Cut(entry, "=")
		level, err := ParseLevel(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, namedLevel{name, level})
	}
	slices.SortStableFunc(parsed, func(a, b namedLevel) int { return len(b.name) - len(a.name) })
	return parsed, nil
}

// levelOf returns the place of the level of a name.
func (l levels) levelOf(name string) int {
	return slices.IndexFunc(l, func(e namedLevel) bool {
		return e.name == "" || name == e.name || strings.HasPrefix(name, e.name+".")
	})
}
