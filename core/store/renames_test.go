package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// local is a container of the watcher local.
func local(name, id string) sdk.Container { return container("local", name, id) }

// renaming is a change in which containers have other names than before, with its events.
func renaming(s *Store, list ...sdk.Container) event.Change {
	ch := event.Change{Put: list}
	for _, c := range list {
		e := event.Event{
			At: s.now(), Type: event.ContainerAdded, Subject: event.Subject(c), Payload: event.Payload{Container: &c},
		}
		if was, known := s.Snapshot().Get(c.ID); known {
			e.Type, e.From = event.ContainerRenamed, was.Container.Name
		}
		ch.Events = append(ch.Events, e)
	}
	return ch
}

func choose(t *testing.T, s *Store, subject string, kind choice.Kind, version string) {
	t.Helper()
	c := choice.Choice{Subject: subject, Kind: kind, Actor: "ana", At: sdk.TimeOf(start)}
	if version == "" {
		c.Until = sdk.TimeOf(start.Add(time.Hour))
	} else {
		c.Update = update.Key{Subject: c.Subject, Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: version}
	}
	must(t, s.PutChoice(t.Context(), c, nil))
}

// written writes the choices of a watcher: "web:approve 2.0.0". Memory and file must agree.
func written(t *testing.T, s *Store, watcher string) string {
	t.Helper()
	stored, err := s.Choices(t.Context())
	must(t, err)
	var all []string
	for _, c := range stored {
		if c.Update != (update.Key{}) && c.Update.Subject != c.Subject {
			t.Errorf("the choice of %s is about %s", c.Subject, c.Update.Subject)
		}
		if !slices.Contains(s.ChoicesBySubject()[c.Subject], c) {
			t.Errorf("in memory is no %+v", c)
		}
		if name, is := strings.CutPrefix(c.Subject, watcher+"/"); is {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s:%s %s", name, c.Kind, c.Version())))
		}
	}
	n := 0
	for _, of := range s.ChoicesBySubject() {
		n += len(of)
	}
	if n != len(stored) {
		t.Errorf("%d choices in memory, %d in the file", n, len(stored))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestChoicesFollowARenamedContainer, and stay with the name when the container is recreated.
func TestChoicesFollowARenamedContainer(t *testing.T) {
	type changes [][]sdk.Container
	cases := map[string]struct {
		steps   changes
		removed bool // web is, with the last step
		want    string
	}{
		"renamed": {changes{{local("www", "1")}}, false,
			"db:approve 3.0.0, www:approve 9.0.0, www:skip 2.0.0, www:snooze"},
		"renamed and back": {changes{{local("www", "1")}, {local("web", "1")}}, false,
			"db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"swapped": {changes{{local("web", "2"), local("db", "1")}}, false,
			"db:approve 9.0.0, db:skip 2.0.0, db:snooze, web:approve 3.0.0"},
		"in a row": {changes{{local("web", "2"), local("www", "1")}}, false,
			"web:approve 3.0.0, www:approve 9.0.0, www:skip 2.0.0, www:snooze"},
		"recreated": {changes{{local("web", "9")}}, true,
			"db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"the old one has a backup": {changes{{local("web-old", "1"), local("web", "9")}}, false,
			"db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"renamed, then recreated": {changes{{local("web-old", "1")}, {local("web", "9")}}, false,
			"db:approve 3.0.0, web-old:skip 2.0.0, web-old:snooze, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"recreated in two steps": {changes{{local("1_web", "1")}, {local("web", "9")}}, true,
			"1_web:skip 2.0.0, 1_web:snooze, db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"made under another name": {changes{{local("9_web", "9")}, {local("web", "9")}}, true,
			"db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"another container is new": {changes{{local("new", "9")}}, false,
			"db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"another watcher has it": {changes{{local("web", "1")}}, false, "db:approve 3.0.0"},
		"nothing is known about it": {changes{{local("9", "9")}, {local("new", "9")}}, false,
			"db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
	}
	s := fresh(t)
	all := map[string]string{} // what is left, by title: each case has a watcher of its own
	for title, c := range cases {
		watcher := strings.ReplaceAll(title, " ", "-")
		local := func(name, id string) sdk.Container { return container(watcher, name, watcher+id) }
		must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{local("web", "1"), local("db", "2")}}))
		choose(t, s, watcher+"/web", choice.Skip, "2.0.0")
		choose(t, s, watcher+"/web", choice.Snooze, "")
		choose(t, s, watcher+"/web", choice.Approved, "9.0.0")
		choose(t, s, watcher+"/db", choice.Approved, "3.0.0")
		for i, step := range c.steps {
			for j := range step {
				if step[j] = local(step[j].Name, step[j].ID); title == "another watcher has it" {
					step[j].Watcher = "home"
				}
			}
			ch := renaming(s, step...)
			if i == len(c.steps)-1 && c.removed {
				ch.Remove = []string{watcher + "1"}
			}
			must(t, s.Commit(t.Context(), ch))
		}
		all[title] = watcher
	}
	twice(t, s, func(s *Store) {
		if got, want := written(t, s, "home"), "web:approve 9.0.0, web:skip 2.0.0, web:snooze"; got != want {
			t.Errorf("with another watcher: choices %s, want %s", got, want)
		}
		for title, c := range cases {
			if got := written(t, s, all[title]); got != c.want {
				t.Errorf("%s: choices\n got  %s\n want %s", title, got, c.want)
			}
		}
	})
}

// TestUsedApprovalStaysWithItsName: with it an operation began, which must not begin again
// under another name. While one is under way, all choices stay: the container is replaced.
func TestUsedApprovalStaysWithItsName(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{local("web", "1")}}))
	choose(t, s, "local/web", choice.Approved, "9.0.0")
	choose(t, s, "local/web", choice.Approved, "8.0.0")
	key := update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "1.25.1", ToTag: "9.0.0"}
	must(t, s.AddOperation(t.Context(), operation.Operation{
		ID: "1", Kind: operation.Update, Watcher: "local", Name: "web", Update: key.String(),
	}))
	must(t, s.Commit(t.Context(), renaming(s, local("web-dogwatch-1", "1"))))
	if got, want := written(t, s, "local"), "web:approve 8.0.0, web:approve 9.0.0"; got != want {
		t.Errorf("choices %s during the operation, want %s", got, want)
	}
	must(t, s.Commit(t.Context(), renaming(s, local("web", "1"))))
	must(t, s.ChangeOperation(t.Context(), operation.Queued, operation.Operation{ID: "1", State: operation.RolledBack}))
	must(t, s.Commit(t.Context(), renaming(s, local("web-dogwatch-1", "1")))) // listed before it ended
	must(t, s.Commit(t.Context(), renaming(s, local("web", "1"))))
	must(t, s.Commit(t.Context(), renaming(s, local("www", "1"))))
	if got, want := written(t, s, "local"), "web:approve 9.0.0, www:approve 8.0.0"; got != want {
		t.Errorf("choices %s after it, want %s", got, want)
	}
}
