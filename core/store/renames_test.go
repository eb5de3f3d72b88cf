package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/operation"
	"github.com/dogwatch/dogwatch/core/policy"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// local is a container of the watcher local.
func local(name, id string) sdk.Container { return container("local", name, id) }

// renaming is a change in which containers have other names than before, with its events.
func renaming(s *Store, list ...sdk.Container) event.Change {
	ch := event.Change{Put: list}
	for _, c := range list {
		e := event.Event{At: s.now(), Type: event.ContainerAdded, Subject: event.Subject(c), Payload: event.Payload{Container: &c}}
		if was, known := s.Snapshot().Get(c.ID); known {
			e.Type, e.From = event.ContainerRenamed, was.Container.Name
		}
		ch.Events = append(ch.Events, e)
	}
	return ch
}

func choose(t *testing.T, s *Store, name string, kind policy.ChoiceKind, version string) {
	t.Helper()
	c := policy.Choice{Subject: "local/" + name, Kind: kind, Actor: "ana", At: sdk.TimeOf(start)}
	if version == "" {
		c.Until = sdk.TimeOf(start.Add(time.Hour))
	} else {
		c.Update = update.Key{Subject: c.Subject, Kind: sdk.KindTag, FromTag: "1.25.0", ToTag: version}
	}
	must(t, s.PutChoice(t.Context(), c, nil))
}

// written writes all choices: "web:approve 2.0.0". Memory and file must agree.
func written(t *testing.T, s *Store) string {
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
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s:%s %s", strings.TrimPrefix(c.Subject, "local/"), c.Kind, c.Version())))
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
	gone := map[string][]string{"gone": {"1"}} // what is removed with a step of that title
	for title, c := range map[string]struct {
		steps   changes
		removed []string // with the last step
		want    string
	}{
		"renamed":                   {changes{{local("www", "1")}}, nil, "db:approve 3.0.0, www:approve 9.0.0, www:skip 2.0.0, www:snooze"},
		"renamed and back":          {changes{{local("www", "1")}, {local("web", "1")}}, nil, "db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"swapped":                   {changes{{local("web", "2"), local("db", "1")}}, nil, "db:approve 9.0.0, db:skip 2.0.0, db:snooze, web:approve 3.0.0"},
		"in a row":                  {changes{{local("web", "2"), local("www", "1")}}, nil, "web:approve 3.0.0, www:approve 9.0.0, www:skip 2.0.0, www:snooze"},
		"recreated":                 {changes{{local("web", "9")}}, gone["gone"], "db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"the old one has a backup":  {changes{{local("web-old", "1"), local("web", "9")}}, nil, "db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"renamed, then recreated":   {changes{{local("web-old", "1")}, {local("web", "9")}}, nil, "db:approve 3.0.0, web-old:skip 2.0.0, web-old:snooze, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"recreated in two steps":    {changes{{local("1_web", "1")}, {local("web", "9")}}, gone["gone"], "1_web:skip 2.0.0, 1_web:snooze, db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"made under another name":   {changes{{local("9_web", "9")}, {local("web", "9")}}, gone["gone"], "db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"another container is new":  {changes{{local("new", "9")}}, nil, "db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
		"another watcher has it":    {changes{{container("home", "web", "1")}}, nil, "db:approve 3.0.0, home/web:approve 9.0.0, home/web:skip 2.0.0, home/web:snooze"},
		"nothing is known about it": {changes{{local("9", "9")}, {local("new", "9")}}, nil, "db:approve 3.0.0, web:approve 9.0.0, web:skip 2.0.0, web:snooze"},
	} {
		t.Run(title, func(t *testing.T) {
			s := fresh(t)
			must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{local("web", "1"), local("db", "2")}}))
			choose(t, s, "web", policy.Skip, "2.0.0")
			choose(t, s, "web", policy.Snooze, "")
			choose(t, s, "web", policy.Approved, "9.0.0")
			choose(t, s, "db", policy.Approved, "3.0.0")
			for i, step := range c.steps {
				ch := renaming(s, step...)
				if i == len(c.steps)-1 {
					ch.Remove = c.removed
				}
				must(t, s.Commit(t.Context(), ch))
			}
			twice(t, s, func(s *Store) {
				if got := written(t, s); got != c.want {
					t.Errorf("choices\n got  %s\n want %s", got, c.want)
				}
			})
		})
	}
}

// TestUsedApprovalStaysWithItsName: with it an operation began, which must not begin again
// under another name. While one is under way, all choices stay: the container is replaced.
func TestUsedApprovalStaysWithItsName(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), event.Change{Put: []sdk.Container{local("web", "1")}}))
	choose(t, s, "web", policy.Approved, "9.0.0")
	choose(t, s, "web", policy.Approved, "8.0.0")
	key := update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "1.25.1", ToTag: "9.0.0"}
	must(t, s.AddOperation(t.Context(), operation.Operation{ID: "1", Kind: operation.Update, Watcher: "local", Name: "web", Update: key.String()}))
	must(t, s.Commit(t.Context(), renaming(s, local("web-dogwatch-1", "1"))))
	if got, want := written(t, s), "web:approve 8.0.0, web:approve 9.0.0"; got != want {
		t.Errorf("choices %s during the operation, want %s", got, want)
	}
	must(t, s.Commit(t.Context(), renaming(s, local("web", "1"))))
	must(t, s.ChangeOperation(t.Context(), operation.Queued, operation.Operation{ID: "1", State: operation.RolledBack}))
	must(t, s.Commit(t.Context(), renaming(s, local("www", "1"))))
	if got, want := written(t, s), "web:approve 9.0.0, www:approve 8.0.0"; got != want {
		t.Errorf("choices %s after it, want %s", got, want)
	}
}
