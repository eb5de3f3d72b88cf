package mqtt

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk"
)

// namesVariable is the variable by which the host says that WUD's names are used: "wud".
const namesVariable = "DOGWATCH_MQTT_NAMES"

// brand begins what is named after the program; "" is Dogwatch's own.
type brand string

func (b brand) String() string { return cmp.Or(string(b), "dogwatch") }

// root is the topic below which everything is published when none is configured.
func (b brand) root() string { return b.String() + "/container" }

// names gives topics and entities the names they have with WUD, below their root.
type names struct {
	root string
	// reserved keeps containers away from the topics of their watcher.
	reserved bool
}

// The last parts of the topics of a watcher, and of all watchers together.
const (
	totalCount   = "total_count"
	updateCount  = "update_count"
	updateStatus = "update_status"
	running      = "running"
)

// The states of the connection.
const (
	online  = "online"
	offline = "offline"
)

func (n names) status() string                     { return n.root + "/status" }
func (n names) event() string                      { return n.root + "/event" }
func (n names) total(what string) string           { return n.root + "/" + what }
func (n names) ofWatcher(watcher, s string) string { return n.root + "/" + segment(watcher) + "/" + s }

// container is the topic of a container that shares its topic with no other.
func (n names) container(c sdk.Container) string {
	last := segment(c.Name)
	if n.reserved && slices.Contains([]string{totalCount, updateCount, updateStatus, running}, last) {
		last += suffix(c.Name)
	}
	return n.ofWatcher(c.Watcher, last)
}

// containers returns the topic of each container. Where several would share a
// topic or an entity, the one whose name needs no change keeps it, else the
// first by name; the others get a suffix that depends on nothing but their name.
func (n names) containers(all []sdk.Container) []string {
	topics := make([]string, len(all))
	order := make([]int, len(all))
	for i := range all {
		topics[i], order[i] = n.container(all[i]), i
	}
	plain := func(c sdk.Container) int {
		if c.Name == segment(c.Name) {
			return 0
		}
		return 1
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := all[a], all[b]
		return cmp.Or(cmp.Compare(plain(x), plain(y)), cmp.Compare(x.Watcher, y.Watcher), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.ID, y.ID))
	})
	taken := map[string]bool{}
	for _, i := range order {
		if taken[entity(topics[i])] {
			topics[i] += suffix(all[i].Watcher + "/" + all[i].Name)
		}
		taken[entity(topics[i])] = true
	}
	return topics
}

// suffix distinguishes names that are equal once they are topics.
func suffix(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("-%08x", h.Sum32())
}

// maxSegment keeps topics within what brokers accept.
const maxSegment = 200

// segment makes one level of a topic of a name. A dot becomes a dash, as with
// WUD, and so does what has a meaning in topics or may not be in one at all
// (MQTT 3.1.1, sections 1.5.3 and 4.7.1).
func segment(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(".+#/", r), unicode.IsControl(r), !unicode.IsGraphic(r), r == unicode.ReplacementChar:
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	if len(name) > maxSegment {
		name = strings.ToValidUTF8(name[:maxSegment], "")
	}
	return cmp.Or(name, "unknown")
}

// entity is the id of a topic's entity. Home Assistant ignores the discovery of
// one with other characters than letters, digits, _ and -.
func entity(topic string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-':
			return r
		}
		return '_'
	}, topic)
}
