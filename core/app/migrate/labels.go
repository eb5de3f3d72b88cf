package migrate

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/internal/yamltext"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// labels rewrites the labels of a service.
func (c *composeFile) labels(n *yaml.Node) {
	if n == nil {
		return
	}
	n = yamltext.Resolve(n)
	if c.done[n] {
		return
	}
	c.done[n] = true
	own, merged := items(n)
	for _, m := range merged {
		c.labels(m)
	}
	taken := map[string]string{}
	for _, it := range own {
		if name, ours := strings.CutPrefix(it.name, label.Prefix); ours {
			taken[name] = it.name
		}
	}
	// Of labels that say the same thing, that of the better tool is rewritten.
	order := slices.Clone(own)
	slices.SortStableFunc(order, func(a, b item) int { return cmp.Compare(label.Rank(a.name), label.Rank(b.name)) })
	for _, it := range order {
		if ch := labelChange(it, taken); ch.mine {
			c.rewrite(it, ch, ch.value)
		}
	}
}

// labelChange says what becomes of a label.
func labelChange(it item, taken map[string]string) change {
	left := func(note string) change { return change{mine: true, note: note} }
	t, foreign := label.Translate(it.name, it.meant())
	if name, wud := strings.CutPrefix(it.name, label.WUDPrefix); wud {
		switch {
		case !label.Known(name) && label.Private(it.name):
			return change{}
		case !label.Known(name):
			return left("is not known" + nearest(name))
		}
		t = label.Translation{Name: name, Value: it.meant()}
	} else if !foreign {
		return change{}
	}
	switch {
	case t.Name == "":
		return left(cmp.Or(t.Note, "says what is the case anyway"))
	case it.open() && t.Value != it.meant():
		return left("its value is not known here and means something else: set " + label.Prefix + t.Name)
	case taken[t.Name] != "" && t.Name == label.UpdateMinAge && t.Value == "0":
		return left("means that no age is asked for: remove " + label.Prefix + t.Name + ", which " + taken[t.Name] +
			" became")
	case taken[t.Name] != "" &&
		(t.Name == label.TriggerInclude || t.Name == label.TriggerExclude || t.Name == label.UpdateSkip):
		return left("has to be added to " + label.Prefix + t.Name + " by hand, which " + taken[t.Name] + " became")
	case taken[t.Name] != "":
		return left("is not used, since " + taken[t.Name] + " says it")
	}
	taken[t.Name] = it.name
	if t.Note == "" && t.Value != it.meant() {
		t.Note = otherValue
	}
	return change{mine: true, name: label.Prefix + t.Name, value: t.Value, note: t.Note}
}

func nearest(name string) string {
	if near := option.Suggest(name, label.Names()); near != "" {
		return ": did you mean " + label.Prefix + near + "?"
	}
	return ""
}
