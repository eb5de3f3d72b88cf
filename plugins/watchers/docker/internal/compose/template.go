package compose

import "strings"

// segment is a part of a text with variables: a literal, or one variable.
type segment struct {
	from, to int    // in the text
	variable string // "" for a literal
	operator string // "", "-", ":-", "?" or ":?"
	fallback span   // of what follows the operator, in the text
}

// segments takes a text apart as Compose interpolates it. It is false for what is
// not a variable's name, a variable inside another one, and alternative values.
func segments(text string) ([]segment, bool) {
	var all []segment
	literal := 0
	for i := 0; i < len(text); {
		if text[i] != '$' {
			i++
			continue
		}
		if i > literal {
			all = append(all, segment{from: literal, to: i})
		}
		s, ok := variable(text, i)
		if !ok {
			return nil, false
		}
		all = append(all, s)
		i, literal = s.to, s.to
	}
	if literal < len(text) {
		all = append(all, segment{from: literal, to: len(text)})
	}
	return all, true
}

// variable reads the one that begins at an index.
func variable(text string, offset int) (segment, bool) {
	s := segment{from: offset}
	name := offset + 1
	braces := strings.HasPrefix(text[name:], "{")
	if braces {
		name++
	}
	end := name + nameLength(text[name:])
	s.variable, s.to = text[name:end], end
	if end == name || !braces {
		return s, end > name
	}
	length := strings.IndexByte(text[end:], '}')
	if length < 0 {
		return s, false
	}
	s.to = end + length + 1
	rest := text[end : end+length]
	for _, operator := range []string{":-", "-", ":?", "?"} {
		if strings.HasPrefix(rest, operator) {
			s.operator, s.fallback = operator, span{from: end + len(operator), to: end + length}
			break
		}
	}
	return s, (rest == "") == (s.operator == "") && !strings.ContainsAny(rest, "${")
}

func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// uses reports whether a text interpolates a variable, in whatever form.
func uses(text, variable string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		if text[i+1] == '$' {
			i++
			continue
		}
		name := strings.TrimPrefix(text[i+1:], "{")
		if name[:nameLength(name)] == variable {
			return true
		}
	}
	return false
}

// takesFallback reports whether the segment's value is the text after its operator.
func (s segment) takesFallback(value string, set bool) bool {
	return s.operator == ":-" && value == "" || s.operator == "-" && !set
}
