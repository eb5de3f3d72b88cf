package migrate

import (
	"bytes"
	"strings"
)

// envLine is a line of an env file. Offsets are those of the file.
type envLine struct {
	name, value string // as they are meant; no name for lines that set nothing
	nameAt      span
	valueAt     span // without quotation marks
	quote       byte // around the value; 0 when there is none
	line        int
	ignored     bool // blank, a comment, or inside a value of several lines
}

// span is a part of a file, its end excluded.
type span struct{ from, to int }

// edit replaces a span.
type edit struct {
	span
	text string
}

// apply makes edits that do not overlap and are in order.
func apply(data []byte, edits []edit) []byte {
	var b bytes.Buffer
	offset := 0
	for _, e := range edits {
		b.Write(data[offset:e.from])
		b.WriteString(e.text)
		offset = e.to
	}
	b.Write(data[offset:])
	return b.Bytes()
}

// envLines reads the lines of an env file: NAME=value, perhaps behind "export",
// the value in quotation marks or not, comments behind a #.
func envLines(data []byte) []envLine {
	var lines []envLine
	open := byte(0) // the quotation mark of a value that goes on
	offset := 0
	for number := 1; offset < len(data); number++ {
		end := offset + len(data[offset:])
		if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		text := strings.TrimRight(string(data[offset:end]), "\r\n")
		l := envLine{line: number}
		switch trimmed := strings.TrimLeft(text, " \t"); {
		case open != 0:
			l.ignored = true
			if strings.IndexByte(text, open) >= 0 {
				open = 0
			}
		case trimmed == "", strings.HasPrefix(trimmed, "#"):
			l.ignored = true
		default:
			open = l.read(text, offset)
		}
		lines = append(lines, l)
		offset = end
	}
	return lines
}

// read finds the parts of a line that starts at an offset. It returns the
// quotation mark of a value that goes on in the next line.
func (l *envLine) read(text string, offset int) (open byte) {
	name, rest, found := strings.Cut(text, "=")
	start := len(name) - len(strings.TrimLeft(name, " \t"))
	if after, exported := strings.CutPrefix(name[start:], "export "); exported {
		start = len(name) - len(strings.TrimLeft(after, " \t"))
	}
	name = strings.TrimRight(name[start:], " \t")
	if !found || !isName(name) {
		return 0
	}
	l.name, l.nameAt = name, span{offset + start, offset + start + len(name)}
	from := len(text) - len(strings.TrimLeft(rest, " \t"))
	value := text[from:]
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		end := closing(value)
		if end < 0 {
			return value[0]
		}
		l.quote, l.value = value[0], value[1:end]
		l.valueAt = span{offset + from + 1, offset + from + end}
		return 0
	}
	if comment := strings.Index(value, " #"); comment >= 0 {
		value = value[:comment]
	}
	l.value = strings.TrimRight(value, " \t")
	l.valueAt = span{offset + from, offset + from + len(l.value)}
	return 0
}

// closing returns the index of the quotation mark that ends a text; -1 when
// there is none.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i
		}
	}
	return -1
}

// isName reports whether a text can name a variable. Names of ours may have dots and dashes.
func isName(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool {
		return c != '_' && c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) < 0
}

// envFile rewrites a file of NAME=value lines.
func (r Rewriter) envFile(name string, data []byte) Result {
	result := Result{Name: name}
	var lines []envLine
	var s scope
	for _, l := range envLines(data) {
		if l.name != "" {
			lines = append(lines, l)
			s.variables = append(s.variables, variable{
				name: l.name, value: l.value, open: strings.Contains(l.value, "$"), line: l.line,
			})
		}
	}
	var edits []edit
	for i, c := range r.decide(s) {
		l := lines[i]
		if !c.mine {
			continue
		}
		value, fits := envValue(c.value, l)
		if c.name != "" && c.value != l.value && !fits {
			c = change{mine: true, note: "its value has to be rewritten by hand: it becomes " + c.name}
		}
		result.Findings = append(result.Findings, Finding{Line: l.line, Name: l.name, To: c.name, Note: c.note})
		if c.name == "" {
			continue
		}
		edits = append(edits, edit{l.nameAt, c.name})
		if c.value != l.value {
			edits = append(edits, edit{l.valueAt, value})
		}
	}
	result.Text = apply(data, edits)
	return result
}

// envValue writes a value in the place of that of a line, and reports whether it can.
func envValue(value string, l envLine) (string, bool) {
	if strings.ContainsAny(value, "\"'\\$\n\r") {
		return "", false
	}
	if l.quote == 0 && strings.Contains(value, " #") {
		return "", false
	}
	return value, true
}
