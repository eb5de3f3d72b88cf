// Package yamltext finds where the text of a scalar stands in a YAML file, for edits that leave the rest as it is.
package yamltext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Locate returns where the text of a scalar stands in its file, without the quotation marks around it, and which they
// are: ' or ", 0 for none. It is false for text that is spread over lines, or not where the parser says.
func Locate(data []byte, n *yaml.Node) (from, to int, quote byte, ok bool) {
	starts := lineStarts(data)
	if n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(starts) {
		return 0, 0, 0, false
	}
	from = starts[n.Line-1]
	if n.Line == 1 && bytes.HasPrefix(data, []byte("\uFEFF")) {
		from += len("\uFEFF")
	}
	for range n.Column - 1 { // which counts characters
		_, size := utf8.DecodeRune(data[from:])
		from += size
	}
	line := Line(data, from)
	for len(line) > 0 && (line[0] == '&' || line[0] == '!') { // an anchor or a tag
		i := bytes.IndexAny(line, " \t")
		if i < 0 {
			return 0, 0, 0, false
		}
		rest := bytes.TrimLeft(line[i:], " \t")
		from += len(line) - len(rest)
		line = rest
	}
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		from, to, ok = block(data, n, from+len(line))
		return from, to, 0, ok
	case len(line) > 1 && (line[0] == '"' || line[0] == '\''):
		if end := Closing(line); end >= 0 {
			return from + 1, from + end, line[0], true
		}
	case n.Value != "" && bytes.HasPrefix(line, []byte(n.Value)):
		return from, from + len(n.Value), 0, true
	}
	return 0, 0, 0, false
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

// block finds the one line of a block scalar whose header ends at an index.
func block(data []byte, n *yaml.Node, header int) (from, to int, ok bool) {
	from = header
	for from < len(data) && strings.IndexByte("\r\n \t", data[from]) >= 0 {
		from++
	}
	line := Line(data, from)
	if value := strings.TrimRight(n.Value, "\n"); value != "" && string(line) == value {
		return from, from + len(value), true
	}
	return 0, 0, false
}

// Line returns the line from an index on, without its end.
func Line(data []byte, from int) []byte {
	line := data[from:]
	if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	return line
}

// Closing returns the index of the quotation mark that ends the scalar which a line begins with.
func Closing(line []byte) int {
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

// Resolve returns the node that an alias stands for, and any other as it is.
func Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
