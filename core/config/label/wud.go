package label

import "strings"

// WUDPrefix is that of the labels of What's Up Docker. Every label exists under it and under Prefix, which wins, but
// for those that What's Up Docker does not have.
const WUDPrefix = "wud."

// delays are the labels of What's Up Docker 9 for the minimum age, without prefix:
// https://github.com/getwud/wud
var delays = [...]string{"watch.delay", "tag.delay"}

// hasOurs reports whether there is any label of ours or of What's Up Docker; most containers have none.
func hasOurs(labels map[string]string) bool {
	for name := range labels {
		if strings.HasPrefix(name, Prefix) || strings.HasPrefix(name, WUDPrefix) {
			return true
		}
	}
	return false
}

// readOurs adds the labels of the table.
func (r *Reading) readOurs(labels map[string]string) {
	for i := range table {
		e := &table[i]
		for _, prefix := range [...]string{Prefix, WUDPrefix} {
			if v := labels[prefix+e.name]; (prefix == Prefix || e.wud) && strings.TrimSpace(v) != "" {
				r.rules = append(r.rules, Rule{Name: e.name, Value: v, Label: prefix + e.name})
				break
			}
		}
	}
}

// readDelay adds the minimum age of What's Up Docker, unless a label of ours sets one.
func (r *Reading) readDelay(labels map[string]string) {
	if _, set := r.Get(UpdateMinAge); set {
		return
	}
	for _, name := range delays {
		if v := labels[WUDPrefix+name]; strings.TrimSpace(v) != "" {
			r.rules = append(r.rules, Rule{Name: UpdateMinAge, Value: v, Label: WUDPrefix + name})
			return
		}
	}
}

// Private reports whether a label that is not known may belong to others:
// integrations of What's Up Docker keep theirs below wud.trigger.
func Private(name string) bool { return strings.HasPrefix(name, WUDPrefix+"trigger.") }
