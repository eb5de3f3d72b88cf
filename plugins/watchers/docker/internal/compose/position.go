package compose

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// span is the text of a scalar in its file, without quotation marks.
type span struct {
	from, to int
	quote    byte // ' or ", 0 for none
}

// lineStarts returns where each line begins, as YAML counts lines.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		case data[i] == '\r', data[i] == '\n':
			starts = append(starts, i+1)
		case bytes.HasPrefix(data[i:], []byte("\u0085")):
			starts = append(starts, i+2)
		case bytes.HasPrefix(data[i:], []byte("\u2028")), bytes.HasPrefix(data[i:], []byte("\u2029")):
			starts = append(starts, i+3)
		}
	}
	return starts
}

// locate returns where the text of a scalar stands. It is false for text that is
// spread over lines, or not where the parser says.
func (d *document) locate(n *yaml.Node) (span, bool) {
	starts := lineStarts(d.data)
	if n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(starts) || n.Value == "" {
		return span{}, false
	}
	from := starts[n.Line-1]
	if n.Line == 1 && bytes.HasPrefix(d.data, []byte("\uFEFF")) {
		from += len("\uFEFF")
	}
	for range n.Column - 1 { // which counts characters
		_, size := utf8.DecodeRune(d.data[from:])
		from += size
	}
	line := lineAt(d.data, from)
	for len(line) > 0 && (line[0] == '&' || line[0] == '!') { // an anchor or a tag
		i := bytes.IndexAny(line, " \t")
		if i < 0 {
			return span{}, false
		}
		rest := bytes.TrimLeft(line[i:], " \t")
		from += len(line) - len(rest)
		line = rest
	}
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.block(n, from+len(line))
	case len(line) > 1 && (line[0] == '"' || line[0] == '\''):
		end := closing(line)
		if end < 0 {
			return span{}, false
		}
		return span{from + 1, from + end, line[0]}, true
	case bytes.HasPrefix(line, []byte(n.Value)):
		return span{from, from + len(n.Value), 0}, true
	}
	return span{}, false
}

// block finds the one line of a block scalar whose header ends at an index.
func (d *document) block(n *yaml.Node, header int) (span, bool) {
	from := header
	for from < len(d.data) && strings.IndexByte("\r\n \t", d.data[from]) >= 0 {
		from++
	}
	line := lineAt(d.data, from)
	if value := strings.TrimRight(n.Value, "\n"); value != "" && string(line) == value {
		return span{from, from + len(value), 0}, true
	}
	return span{}, false
}

// lineAt returns the line from an index on, without its end.
func lineAt(data []byte, from int) []byte {
	line := data[from:]
	if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	return line
}

// closing returns the index of the quotation mark that ends the scalar which a line begins with.
func closing(line []byte) int {
	for i := 1; i < len(line); i++ {
		switch {
		case line[0] == '"' && line[i] == '\\':
			i++
		case line[i] != line[0]:
		case line[0] == '\'' && i+1 < len(line) && line[i+1] == '\'':
			i++
		default:
			return i
		}
	}
	return -1
}
