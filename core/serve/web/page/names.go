package page

import (
	"cmp"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// Names are what users call the containers that there are. Its methods may be called concurrently.
type Names struct {
	bySubject map[string]string
	bearers   map[string]int // how many have a name
}

// Names returns the names of all containers.
func (s *Site) Names() Names {
	all := s.Service.Containers().All()
	n := Names{make(map[string]string, len(all)), make(map[string]int, len(all))}
	for _, rec := range all {
		name := words.Name(&rec.Container)
		n.bySubject[event.Subject(rec.Container)] = name
		n.bearers[name]++
	}
	return n
}

// Of returns the name of the container with a subject ("local/web"), with its watcher where others have the same. Of
// one that is not there any more, it returns gone, or the name that its watcher had for it where that is "".
func (n Names) Of(subject, gone string) string {
	watcher, name, _ := strings.Cut(subject, "/")
	others := 0
	if known, has := n.bySubject[subject]; has {
		name, others = known, 1
	} else {
		name = cmp.Or(gone, name, subject)
	}
	if n.bearers[name] > others {
		return watcher + "/" + name
	}
	return name
}

// Find returns the subjects of the containers whose name has a text in it, whatever its letter case; none for "".
func (n Names) Find(text string) (subjects []string) {
	for subject, name := range n.bySubject {
		if text != "" && strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			subjects = append(subjects, subject)
		}
	}
	return subjects
}
