package config

import (
	"strings"

	"github.com/dogwatch/dogwatch/internal/visible"
)

// Level tells a mistake that switches something off from one that does not.
type Level int

// The levels.
const (
	Warning Level = iota
	Error
)

func (l Level) String() string {
	if l == Error {
		return "error"
	}
	return "warning"
}

// Problem is one thing the operator should know or mend.
type Problem struct {
	// Key is the path of what is wrong ("trigger.smtp.main.port"); "" for the file as a whole.
	Key string
	// Source is where it was written; "" when it was not.
	Source string
	// Message says what is wrong. It holds no secret.
	Message string
	// Remedy says what to do, when that does not follow from the message.
	Remedy string
	Level  Level
}

// String returns the problem in one line: "trigger.smtp.main.port: want a
// whole number, got "x" (dogwatch.yaml:12); remove the quotation marks".
func (p Problem) String() string {
	var b strings.Builder
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Message)
	if p.Source != "" {
		b.WriteString(" (" + p.Source + ")")
	}
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return oneLine(b.String())
}

// oneLine replaces what could break a line or a terminal.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if visible.Hidden(c) {
			return '?'
		}
		return c
	}, text)
}

// InvalidError says why a configuration cannot be used. Problems are all that
// were found, warnings too.
type InvalidError struct{ Problems []Problem }

// Error lists the problems of level Error, one per line; all of them when there is none.
func (e *InvalidError) Error() string {
	var lines, errors []string
	for _, p := range e.Problems {
		lines = append(lines, p.String())
		if p.Level == Error {
			errors = append(errors, p.String())
		}
	}
	if len(errors) > 0 {
		lines = errors
	}
	return strings.Join(lines, "\n")
}

// Verdict returns an *InvalidError when problems hold an error or, if strict,
// anything at all; else nil.
func Verdict(problems []Problem, strict bool) error {
	for _, p := range problems {
		if strict || p.Level == Error {
			return &InvalidError{Problems: problems}
		}
	}
	return nil
}
