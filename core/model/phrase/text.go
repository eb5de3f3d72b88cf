package phrase

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Text is a phrase as a field of JSON, where it is in English. The zero Text is "".
type Text struct{ Phrase }

// Texts returns phrases as texts.
func Texts(all ...Phrase) []Text {
	texts := make([]Text, len(all))
	for i, p := range all {
		texts[i] = Text{p}
	}
	return texts
}

// Strings returns texts in English.
func Strings(texts []Text) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = t.String()
	}
	return all
}

// String returns it in English.
func (t Text) String() string { return English(t.Phrase) }

// In returns it in the language of a printer.
func (t Text) In(p Printer) string {
	if t.Phrase == nil {
		return ""
	}
	return t.Phrase.In(p)
}

// MarshalText returns it in English.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a text, which then is the same in every language.
func (t *Text) UnmarshalText(english []byte) error {
	t.Phrase = Quote(string(english))
	return nil
}

// IsVerbatim reports whether a phrase is the same in every language.
func IsVerbatim(p Phrase) bool {
	switch p := p.(type) {
	case Text:
		return IsVerbatim(p.Phrase)
	case *change:
		return IsVerbatim(p.phrase)
	case verbatim, quote:
		return true
	}
	return false
}

// minutes is the layout of times in texts that are read.
const minutes = "2 Jan 2006 15:04"

// Read returns a text that was made elsewhere, or was stored, as the phrase of the first of the English formats that
// it has, whose verbs are all "%s"; a quote when it has none of them. What is in
// the places of the verbs is an Argument.
func Read(text string, formats ...string) Phrase {
	for _, format := range formats {
		texts, fits := Arguments(format, text)
		if !fits {
			continue
		}
		args := make([]any, len(texts))
		for i, arg := range texts {
			args[i] = Argument(arg)
		}
		return New(format, args...)
	}
	return Quote(text)
}

// Argument is what a text in the place of a verb stands for: a time as Time, an age as Count, else the text.
func Argument(text string) any {
	if at, err := time.Parse(minutes, text); err == nil {
		return Time(minutes, at)
	}
	number, unit, _ := strings.Cut(text, " ")
	unit = strings.TrimSuffix(unit, "s")
	if n, err := strconv.Atoi(number); err == nil && slices.Contains([]string{"week", "day", "hour", "minute"}, unit) {
		return Count(n, unit)
	}
	return text
}

// Stored returns a text that was made elsewhere, or was stored, as it is in English. Any other language reads it by its
// formats of a kind of texts, as Read does.
func Stored(kind, text string) Phrase {
	if text == "" {
		return nil
	}
	return stored{kind, text}
}

type stored struct{ kind, text string }

func (s stored) String() string      { return s.text }
func (s stored) In(p Printer) string { return Read(s.text, p.Formats(s.kind)...).In(p) }

// StoredParts is Stored for errors and the like, whose parts have colons or semicolons between them: each is read by
// itself, and those beside each other that have none of the formats are one quote.
func StoredParts(kind, text string) Phrase {
	if text == "" {
		return nil
	}
	return storedParts{kind, text}
}

type storedParts stored

func (s storedParts) String() string { return s.text }

func (s storedParts) In(p Printer) string {
	said, _ := partsOf(p, s.kind, s.text, "; ", ": ")
	return Text{said}.In(p)
}

// partsOf reads the parts of a text that have the first separator between them, and the next within each part; known
// reports whether any of them has a format.
func partsOf(p Printer, kind, text string, separators ...string) (said Phrase, known bool) {
	var all []Phrase
	var others []string
	end := func() { all, others = append(all, Quote(strings.Join(others, separators[0]))), nil }
	for part := range strings.SplitSeq(text, separators[0]) {
		one, has := Phrase(nil), false
		if len(separators) > 1 {
			one, has = partsOf(p, kind, part, separators[1:]...)
		} else {
			one = explained(p, Read(part, p.Formats(kind)...))
			has = !IsVerbatim(one)
		}
		if !has {
			others = append(others, part)
			continue
		}
		known = true
		end()
		all = append(all, one)
	}
	end()
	return Join(separators[0], all...), known
}

// explained has arguments of what was read in the language, too: sources of settings, exit codes, and descriptions of
// options.
func explained(p Printer, said Phrase) Phrase {
	read, is := said.(*format)
	if !is {
		return said
	}
	for i, arg := range read.args {
		text, _ := arg.(string)
		name, ofEnv := strings.CutPrefix(text, "env ")
		code, ofExit := strings.CutPrefix(text, "exit code ")
		switch {
		case ofEnv:
			read.args[i] = New("environment variable %s", name)
		case ofExit:
			read.args[i] = New("exit code %s", code)
		case slices.Contains(p.Formats("descriptions"), text):
			read.args[i] = New(strings.ReplaceAll(text, "%", "%%"))
		}
	}
	return said
}

// Arguments returns what a text has in the places of the verbs "%s" of a format; false when it is not of the
// format.
func Arguments(format, text string) (args []string, fits bool) {
	parts := strings.Split(format, "%s")
	text, fits = strings.CutPrefix(text, parts[0])
	for i, part := range parts[1:] {
		end := strings.Index(text, part)
		if i == len(parts)-2 {
			end = len(text) - len(part)
			if !strings.HasSuffix(text, part) {
				return nil, false
			}
		}
		if !fits || end <= 0 {
			return nil, false
		}
		args, text = append(args, text[:end]), text[end+len(part):]
	}
	return args, fits && text == ""
}
