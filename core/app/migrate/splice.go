package migrate

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// splicer collects edits of a YAML file by node.
type splicer struct {
	data  []byte
	edits []edit
	// want is what each edited node holds afterwards.
	want map[*yaml.Node]string
}

func newSplicer(data []byte) *splicer {
	return &splicer{data: data, want: map[*yaml.Node]string{}}
}

// scalar returns where the text of a node stands, without the quotation marks around it, and which they are. It is
// false for what is not written on one line, or not where the parser says.
func (s *splicer) scalar(n *yaml.Node) (place span, quote byte, ok bool) {
	place.from, place.to, quote, ok = yamltext.Locate(s.data, n)
	return place, quote, ok && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// replace gives a node another text and reports whether it can.
func (s *splicer) replace(n *yaml.Node, text string) bool {
	place, quote, ok := s.scalar(n)
	if !ok || strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c == utf8.RuneError || c == 0x7f }) >= 0 {
		return false
	}
	s.edits = append(s.edits, edit{place, quoted(text, quote)})
	s.want[n] = text
	return true
}

// rename gives a node a text that differs at its beginning only, and leaves the
// rest as it is written.
func (s *splicer) rename(n *yaml.Node, from, to string) bool {
	place, _, ok := s.scalar(n)
	if !ok || !bytes.HasPrefix(s.data[place.from:place.to], []byte(from)) || !strings.HasPrefix(n.Value, from) {
		return false
	}
	s.edits = append(s.edits, edit{span{place.from, place.from + len(from)}, to})
	s.want[n] = to + n.Value[len(from):]
	return true
}

// fill gives a key without a value one.
func (s *splicer) fill(key, value *yaml.Node, text string) bool {
	place, quote, ok := s.scalar(key)
	if !ok {
		return false
	}
	end := place.to
	if quote != 0 {
		end++
	}
	rest := bytes.TrimLeft(s.data[end:], " ")
	if len(rest) == 0 || rest[0] != ':' {
		return false
	}
	end = len(s.data) - len(rest) + 1
	s.edits = append(s.edits, edit{span{end, end}, " " + quoted(text, 0)})
	s.want[value] = text
	return true
}

// quoted writes a text between marks of a kind; without marks it gets some if
// it needs them.
func quoted(text string, mark byte) string {
	switch mark {
	case '\'':
		return strings.ReplaceAll(text, "'", "''")
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	}
	if plain(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// plain reports whether a text means itself, and is a text, without quotation
// marks, wherever it stands.
func plain(text string) bool {
	if n := (&yaml.Node{Kind: yaml.ScalarNode, Value: text}); n.ShortTag() != "!!str" {
		return false
	}
	safe := strings.IndexFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_./=-:", c)
	}) < 0
	return safe && text != "" && !strings.ContainsAny(text[:1], "-:=.") && !strings.HasSuffix(text, ":")
}

// all makes several edits or none.
func (s *splicer) all(steps ...func() bool) bool {
	edits, want := len(s.edits), maps.Clone(s.want)
	for _, step := range steps {
		if !step() {
			s.edits, s.want = s.edits[:edits], want
			return false
		}
	}
	return true
}

// result makes the edits, if the outcome differs from the file by them alone.
func (s *splicer) result(root *yaml.Node) ([]byte, bool) {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	for i := range s.edits[1:max(1, len(s.edits))] {
		if s.edits[i].to > s.edits[i+1].from {
			return nil, false
		}
	}
	text := apply(s.data, s.edits)
	after, err := parseYAML(text)
	return text, err == nil && s.agrees(root, after)
}

// agrees compares two trees node by node.
func (s *splicer) agrees(a, b *yaml.Node) bool {
	value, edited := s.want[a]
	if !edited {
		value = a.Value
	}
	sameTag := a.Tag == b.Tag || edited
	if a.Kind != b.Kind || !sameTag || a.Anchor != b.Anchor || b.Value != value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !s.agrees(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
