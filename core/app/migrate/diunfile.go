package migrate

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// maxValues bounds what a configuration of Diun may hold, aliases counted each time.
const maxValues = 20_000

// diunFile writes a configuration file of ours that means what one of Diun says.
func (r Rewriter) diunFile(name string, root *yaml.Node) (Result, error) {
	var s scope
	left := maxValues
	if !flatten(root, "DIUN", &s, &left) {
		return Result{}, fmt.Errorf("%w: it holds more than %d values", ErrUnknown, maxValues)
	}
	if docker := lookup(root, "providers"); docker != nil {
		if docker = lookup(docker, "docker"); docker != nil && len(yamltext.Resolve(docker).Content) > 0 {
			s.variables = append(s.variables, variable{name: "DIUN_PROVIDERS_DOCKER", value: "true", line: docker.Line})
		}
	}
	result := Result{Name: filepath.Join(filepath.Dir(name), "dogwatch.yaml"), New: true}
	var settings []config.Setting
	for i, c := range r.decide(s) {
		v := s.variables[i]
		path := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(v.name, "DIUN_"), "_", "."))
		to := ""
		if c.name != "" {
			to, _ = config.Variable(c.name, c.value, r.WatcherTypes, r.Schema)
			settings = append(settings, config.Setting{Path: to, Value: c.value})
		}
		result.Findings = append(result.Findings, Finding{Line: v.line, Name: path, To: to, Note: c.note})
	}
	text, err := config.Document(settings)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	result.Text = []byte(text)
	return result, nil
}

// flatten writes a tree as variables. It is false when left, how many nodes may
// still be looked at, does not suffice.
func flatten(n *yaml.Node, name string, s *scope, left *int) bool {
	n = yamltext.Resolve(n)
	if *left -= 1 + len(n.Content); *left < 0 {
		return false
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !flatten(n.Content[i+1], name+"_"+strings.ToUpper(n.Content[i].Value), s, left) {
				return false
			}
		}
		if len(n.Content) > 0 {
			return true
		}
	case yaml.SequenceNode:
		var values []string
		for i, entry := range n.Content {
			if entry = yamltext.Resolve(entry); entry.Kind == yaml.ScalarNode {
				values = append(values, entry.Value)
			} else if !flatten(entry, name+"_"+strconv.Itoa(i), s, left) {
				return false
			}
		}
		if len(values) > 0 {
			s.variables = append(s.variables, variable{name: name, value: strings.Join(values, ","), line: n.Line})
		}
		return true
	}
	s.variables = append(s.variables, variable{name: name, value: n.Value, line: n.Line})
	return true
}
