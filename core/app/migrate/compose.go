package migrate

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// compose rewrites the environments and the labels of a compose file's services.
func (r Rewriter) compose(name string, data []byte, root *yaml.Node) (Result, error) {
	r.Keep = nil // these are the names in containers, not those of the surroundings
	c := &composeFile{Rewriter: r, splicer: newSplicer(data), done: map[*yaml.Node]bool{}, result: Result{Name: name}}
	services := yamltext.Resolve(lookup(root, "services"))
	for i := 0; services.Kind == yaml.MappingNode && i+1 < len(services.Content); i += 2 {
		c.service(yamltext.Resolve(services.Content[i+1]))
	}
	slices.SortStableFunc(c.result.Findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	if len(c.edits) == 0 {
		c.result.Text = data
		return c.result, nil
	}
	var ok bool
	if c.result.Text, ok = c.splicer.result(root); !ok {
		return Result{}, ErrUnsafe
	}
	return c.result, nil
}

// composeFile is a compose file that is being rewritten.
type composeFile struct {
	Rewriter
	*splicer
	// done are the mappings and lists that were rewritten: several services may share one.
	done   map[*yaml.Node]bool
	result Result
}

// item is one variable or label as a compose file writes it: as a key with a
// value, or as one text NAME=value.
type item struct {
	key    *yaml.Node // the text as a whole in a list
	value  *yaml.Node // nil in a list
	name   string
	text   string // the value with $$ for $; "" when there is none
	absent bool   // the value comes from the surroundings
}

func (c *composeFile) service(service *yaml.Node) {
	if service.Kind != yaml.MappingNode {
		return
	}
	image := ""
	if n := lookup(service, "image"); n != nil {
		image = yamltext.Resolve(n).Value
		if tool := imageOf(image); tool != "" && !c.done[n] {
			c.done[n] = true
			c.find(n, Finding{
				Aside: true, Name: "image: " + image, Note: "write image: " + config.Image + " to run Dogwatch instead" + moreOf(tool),
			})
		}
	}
	c.command(service, imageOf(image))
	c.environment(lookup(service, "environment"), image)
	c.labels(lookup(service, "labels"))
	for _, key := range []string{"env_file", "label_file"} {
		if n := lookup(service, key); n != nil && imageOf(image) != "" && !c.done[n] {
			c.done[n] = true
			c.find(n, Finding{Aside: true, Name: key, Note: "its files are not looked at: name them beside this one"})
		}
	}
}

// moreOf says what else the service of a tool needs.
func moreOf(tool string) string {
	switch tool {
	case "watchtower":
		return ", with a volume for /store and the port 3000; it checks every hour unless it has a schedule, Watchtower every day"
	case "diun":
		return ", with a volume for /store and the port 3000"
	case "drydock":
		return "; it checks every hour unless it has a schedule, Drydock every six; its database is not read"
	}
	return ""
}

func (c *composeFile) find(n *yaml.Node, f Finding) {
	f.Line = n.Line
	c.result.Findings = append(c.result.Findings, f)
}

// items returns what a mapping or a list holds, those of merged mappings apart.
func items(n *yaml.Node) (own []item, merged []*yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Tag == "!!merge" {
				merged = append(merged, mappings(value)...)
				continue
			}
			if key.Kind != yaml.ScalarNode {
				continue
			}
			target := yamltext.Resolve(value)
			it := item{key: key, value: value, name: key.Value, text: target.Value, absent: target.Tag == "!!null"}
			own = append(own, it)
		}
	case yaml.SequenceNode:
		for _, entry := range n.Content {
			if entry.Kind != yaml.ScalarNode {
				continue
			}
			name, text, given := strings.Cut(entry.Value, "=")
			own = append(own, item{key: entry, name: name, text: text, absent: !given})
		}
	}
	return own, merged
}

// mappings returns the mappings that a merge names.
func mappings(n *yaml.Node) []*yaml.Node {
	n = yamltext.Resolve(n)
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	var all []*yaml.Node
	for _, entry := range n.Content {
		all = append(all, yamltext.Resolve(entry))
	}
	return all
}

// open reports whether Compose replaces something in a value.
func (it item) open() bool {
	return it.absent || strings.Contains(strings.ReplaceAll(it.text, "$$", ""), "$")
}

// meant is the value as the container sees it.
func (it item) meant() string { return strings.ReplaceAll(it.text, "$$", "$") }

// environment rewrites the variables of a service.
func (c *composeFile) environment(n *yaml.Node, image string) {
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
		c.environment(m, image)
	}
	s := scope{image: image}
	for _, it := range own {
		s.variables = append(s.variables, variable{name: it.name, value: it.meant(), open: it.open(), line: it.key.Line})
	}
	for i, ch := range c.decide(s) {
		if ch.mine {
			c.rewrite(own[i], ch, ch.value)
		}
	}
}

// rewrite makes a change, or says that it cannot be made here.
func (c *composeFile) rewrite(it item, ch change, value string) {
	f := Finding{Name: it.name, To: ch.name, Note: ch.note}
	if ch.name != "" && !c.edit(it, ch.name, value) {
		f.To, f.Note = "", "is written in a way that has to be rewritten by hand: it becomes "+ch.name
	}
	c.find(it.key, f)
}

// edit gives an item a new name and, if it differs, a new value.
func (c *composeFile) edit(it item, name, value string) bool {
	keep := it.open() || value == it.meant()
	escaped := strings.ReplaceAll(value, "$", "$$")
	switch {
	case it.value == nil && it.absent:
		return c.replace(it.key, name+"=${"+it.name+":-}")
	case it.value == nil && keep:
		return c.rename(it.key, it.name, name)
	case it.value == nil:
		return c.replace(it.key, name+"="+escaped)
	case it.value.Kind == yaml.AliasNode && !keep:
		return false
	case it.absent && it.value.Value != "":
		return false // a written null
	case it.absent:
		return c.all(
			func() bool { return c.rename(it.key, it.name, name) },
			func() bool { return c.fill(it.key, it.value, "${"+it.name+":-}") })
	case keep:
		return c.rename(it.key, it.name, name)
	}
	return c.all(
		func() bool { return c.rename(it.key, it.name, name) },
		func() bool { return c.replace(it.value, escaped) })
}

// command reads the flags of a service of Watchtower, which are its variables in other words.
func (c *composeFile) command(service *yaml.Node, tool string) {
	n := lookup(service, "command")
	if n == nil || tool == "" || tool == "wud" || c.done[yamltext.Resolve(n)] {
		return
	}
	n = yamltext.Resolve(n)
	c.done[n] = true
	if tool != "watchtower" {
		c.find(n, Finding{Aside: true, Name: "command", Note: "is not one of Dogwatch: remove it"})
		return
	}
	words := strings.Fields(n.Value)
	if n.Kind == yaml.SequenceNode {
		for _, entry := range n.Content {
			words = append(words, strings.Fields(yamltext.Resolve(entry).Value)...)
		}
	}
	c.find(n, Finding{Aside: true, Name: "command", Note: "is not one of Dogwatch: remove it" + c.flags(words)})
}

// flags says what to set instead of the flags of Watchtower.
func (c *composeFile) flags(words []string) string {
	var say []string
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i], "=")
		ours := flagVariable(name)
		if ours == "" {
			say = append(say, words[i]+" chooses a container: set the label dogwatch.watch")
			continue
		}
		switch next := i + 1; {
		case given:
		case next < len(words) && !strings.HasPrefix(words[next], "-") && takesValue(ours):
			i = next
			value = words[i]
		default:
			value = "true"
		}
		switch set, _ := c.watchtower(scope{}, variable{name: ours, value: value}); {
		case set.path == "":
			say = append(say, name+": "+set.note)
		case strings.HasPrefix(set.path, config.DefaultWatcher), strings.HasPrefix(set.path, "log."):
			say = append(say, name+": set "+config.ShortEnvName(set.path)+"="+set.value)
		default: // whose value may be a secret
			say = append(say, name+": set "+config.ShortEnvName(set.path))
		}
	}
	if len(say) == 0 {
		return ""
	}
	return "; " + strings.Join(say, "; ")
}

// flagVariable returns the variable that a flag of Watchtower stands for; "" for what is no flag.
func flagVariable(name string) string {
	switch name {
	case "--interval", "-i":
		return "WATCHTOWER_POLL_INTERVAL"
	case "-s":
		return "WATCHTOWER_SCHEDULE"
	case "-d":
		return "WATCHTOWER_DEBUG"
	case "-R":
		return "WATCHTOWER_RUN_ONCE"
	case "-S":
		return "WATCHTOWER_INCLUDE_STOPPED"
	}
	long, ok := strings.CutPrefix(name, "--")
	if !ok {
		return ""
	}
	return "WATCHTOWER_" + strings.ToUpper(strings.ReplaceAll(long, "-", "_"))
}

// takesValue reports whether what follows a flag is its value.
func takesValue(variable string) bool {
	for _, end := range []string{"INTERVAL", "SCHEDULE", "_URL", "_TOKEN", "_FROM", "_TO", "_SERVER", "_PORT", "_USER",
		"_PASSWORD", "_LEVEL", "_FORMAT", "_TEMPLATE", "_SCOPE", "_TIMEOUT", "_HOOK", "_CHANNEL", "_HOSTNAME", "_TAG",
		"_DELAY", "_HOST", "NOTIFICATIONS", "_CONTAINERS"} {
		if strings.HasSuffix(variable, end) {
			return true
		}
	}
	return false
}
