package compose

import (
	"bytes"
	"strings"

	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// entry is a variable of an env file.
type entry struct {
	key, value string
	position   span
	line       int
	// simple is true for a value that means itself: nothing in it is interpolated or escaped.
	simple bool
}

// parseEnv reads an env file. Where a variable stands twice, the last counts.
func parseEnv(data []byte) []entry {
	var all []entry
	offset, line := len(data)-len(bytes.TrimPrefix(data, []byte("\uFEFF"))), 1
	for offset < len(data) {
		end, next := lineEnd(data, offset)
		if e, ok := parseEntry(data, offset, end); ok {
			e.line = line
			all = append(all, e)
			if e.position.to > end { // a quoted value of several lines
				_, next = lineEnd(data, e.position.to)
			}
		}
		line += bytes.Count(data[offset:next], []byte("\n"))
		offset = next
	}
	return all
}

// lineEnd returns where the line of an index ends, and where the next one begins.
func lineEnd(data []byte, offset int) (end, next int) {
	end, next = len(data), len(data)
	if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
		end, next = offset+i, offset+i+1
	}
	if end > offset && data[end-1] == '\r' {
		end--
	}
	return end, next
}

func parseEntry(data []byte, offset, end int) (entry, bool) {
	var e entry
	offset = skipBlanks(data, offset, end)
	if rest := data[offset:end]; bytes.HasPrefix(rest, []byte("export ")) {
		offset = skipBlanks(data, offset+len("export "), end)
	}
	i := bytes.IndexAny(data[offset:end], "=:")
	if i <= 0 || data[offset] == '#' {
		return e, false
	}
	e.key = strings.TrimRight(string(data[offset:offset+i]), " \t")
	if nameLength(e.key) != len(e.key) {
		return e, false
	}
	from := skipBlanks(data, offset+i+1, end)
	if from < end && (data[from] == '"' || data[from] == '\'') {
		length := yamltext.Closing(data[from:])
		if data[from] == '\'' {
			length = 1 + bytes.IndexByte(data[from+1:], '\'')
		}
		if length < 1 {
			return e, false
		}
		e.position = span{from + 1, from + length, data[from]}
		e.value = string(data[e.position.from:e.position.to])
		e.simple = !strings.ContainsAny(e.value, "\\\r\n") && (data[from] == '\'' || !strings.Contains(e.value, "$"))
		return e, true
	}
	value := data[from:end]
	if i := bytes.Index(value, []byte(" #")); i >= 0 {
		value = value[:i]
	}
	if bytes.HasPrefix(value, []byte("#")) {
		value = nil
	}
	value = bytes.TrimRight(value, " \t")
	e.position, e.value = span{from, from + len(value), 0}, string(value)
	e.simple = !strings.ContainsAny(e.value, "\\$\"'\t ")
	return e, true
}

func skipBlanks(data []byte, offset, end int) int {
	for offset < end && (data[offset] == ' ' || data[offset] == '\t') {
		offset++
	}
	return offset
}

// variables are the env files of a project.
type variables struct {
	paths  []string
	data   [][]byte
	values map[string]source
	absent string // an env file that the user named and that is not there
}

// source is where a variable has its value.
type source struct {
	entry
	file int
}

func loadVariables(p Project, read Reader) (*variables, error) {
	v := &variables{values: map[string]source{}}
	for _, path := range p.EnvFiles {
		data, err := read(path)
		if err != nil {
			if err := ReadError(path, err); codeOf(err) != FileMissing {
				return nil, err
			}
			if p.Named {
				v.absent = path
			}
			continue
		}
		v.paths, v.data = append(v.paths, path), append(v.data, data)
		for _, e := range parseEnv(data) {
			v.values[e.key] = source{e, len(v.paths) - 1}
		}
	}
	return v, nil
}
