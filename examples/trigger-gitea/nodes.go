package main

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// put is a value that is to be written in place of that of a node.
type put struct {
	node  *yaml.Node
	value string
}

// editNodes changes what lines do not show: the tag that values of Helm (image: {repository, tag}) and kustomizations
// (images: [{name, newTag}]) have apart from the name, and images in flow style. Whatever else is in the text stays as
// it is, as does all of one that is no YAML.
func (c change) editNodes(text string) (edited string, current bool) {
	var puts []put
	documents := yaml.NewDecoder(strings.NewReader(text))
	for document := new(yaml.Node); documents.Decode(document) == nil; document = new(yaml.Node) {
		found, done := c.find(document)
		puts, current = append(puts, found...), current || done
	}
	slices.SortFunc(puts, func(a, b put) int { // from the end, since a column changes with what is before it
		return cmp.Or(b.node.Line-a.node.Line, b.node.Column-a.node.Column)
	})
	lines := strings.SplitAfter(text, "\n")
	for _, p := range puts {
		p.into(lines)
	}
	return strings.Join(lines, ""), current
}

// into writes the value, if the line has the old one where the node is. A number as a tag gets quotes: 1.30 is not 1.3.
func (p put) into(lines []string) {
	if p.node.Line > len(lines) {
		return
	}
	line := []rune(lines[p.node.Line-1]) // a column counts characters
	at, quote := min(p.node.Column-1, len(line)), ""
	switch {
	case p.node.Style&yaml.DoubleQuotedStyle != 0:
		quote = `"`
	case p.node.Style&yaml.SingleQuotedStyle != 0:
		quote = "'"
	}
	after, is := strings.CutPrefix(string(line[at:]), quote+p.node.Value+quote)
	if !is { // it has an anchor, or goes on in the next line
		return
	}
	var plain any
	if yaml.Unmarshal([]byte(p.value), &plain); plain != any(p.value) && quote == "" {
		quote = `"`
	}
	lines[p.node.Line-1] = string(line[:at]) + quote + p.value + quote + after
}

// find returns what is to be written in a node and below it. Aliases are not followed.
func (c change) find(node *yaml.Node) (puts []put, current bool) {
	values := map[string]*yaml.Node{}
	text := func(key string) string {
		if v := values[key]; v != nil && v.Kind == yaml.ScalarNode {
			return v.Value
		}
		return ""
	}
	for i, child := range node.Content {
		found, done := c.find(child)
		puts, current = append(puts, found...), current || done
		if node.Kind == yaml.MappingNode && i%2 == 1 {
			values[node.Content[i-1].Value] = child
		}
	}
	name, tag := strings.TrimPrefix(text("registry")+"/"+text("repository"), "/"), "tag"
	if text("name") != "" && text("repository") == "" {
		name, tag = cmp.Or(text("newName"), text("name")), "newTag"
	}
	wanted, done := c.replace(text("image"))
	current = current || done
	switch digest := text("digest"); {
	case wanted != text("image"):
		puts = append(puts, put{values["image"], wanted})
	case bare(name) != bare(c.image):
	case text(tag) == c.to || digest == c.to:
		current = true
	case digest == c.from:
		puts = append(puts, put{values["digest"], c.to})
	case text(tag) == c.from && digest == "":
		puts = append(puts, put{values[tag], c.to})
	case text(tag) == c.from && c.digest != "":
		puts = append(puts, put{values[tag], c.to}, put{values["digest"], c.digest})
	}
	return puts, current
}
