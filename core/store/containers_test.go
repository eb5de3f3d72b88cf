package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// ids lists what a store holds, as watcher/name=id.
func ids(s *Store) []string {
	var out []string
	for _, r := range s.Snapshot().All() {
		out = append(out, event.Subject(r.Container)+"="+r.Container.ID)
	}
	return out
}

func TestContainersComeBackAsTheyWere(t *testing.T) {
	s := fresh(t)
	want := container("local", "web", "c1")
	must(t, s.Commit(t.Context(), put(want, sdk.Container{ID: "c2", Watcher: "other", Name: "bare"})))
	want.Check.At = sdk.TimeOf(want.Check.At.Time)
	twice(t, s, func(s *Store) {
		got, err := s.Containers(t.Context())
		must(t, err)
		if len(got) != 2 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		r, ok := s.Snapshot().Get("c1")
		doc, err := encode(want)
		must(t, err)
		if !ok || string(r.JSON) != string(doc) {
			t.Errorf("JSON is %s, want %s", r.JSON, doc)
		}
		if !r.FirstSeen.Equal(start) || !r.CheckedAt.Equal(want.Check.At.Time) {
			t.Errorf("first seen %v, checked %v", r.FirstSeen, r.CheckedAt)
		}
		if bare, _ := s.Snapshot().Get("c2"); !bare.CheckedAt.IsZero() || !bare.Container.Check.At.IsZero() {
			t.Errorf("a container that was never checked has %v", bare.CheckedAt)
		}
		if strings.Contains(string(r.JSON), `\u0026`) {
			t.Error("JSON is escaped for HTML")
		}
	})
}

func TestCommitPlacesContainers(t *testing.T) {
	c := func(name, id string) sdk.Container { return sdk.Container{Watcher: "local", Name: name, ID: id} }
	for title, tc := range map[string]struct {
		before, change event.Change
		want           []string
		inherits       map[string]string // id now: id before, whose first seen time it has
	}{
		"recreated": {put(c("web", "1")), put(c("web", "2")), []string{"local/web=2"}, map[string]string{
			"2": "1",
		}},
		"recreated, old one removed": {put(c("web", "1")), event.Change{
			Put: []sdk.Container{c("web", "2")}, Remove: []string{"1"},
		}, []string{"local/web=2"}, map[string]string{"2": "1"}},
		"renamed": {put(c("web", "1")), put(c("www", "1")), []string{"local/www=1"}, map[string]string{
			"1": "1",
		}},
		"names swapped": {put(c("a", "1"), c("b", "2")), put(c("b", "1"), c("a", "2")),
			[]string{"local/a=2", "local/b=1"}, map[string]string{"1": "1", "2": "2"}},
		"renamed to make room": {put(c("web", "1")), put(c("web_old", "1"), c("web", "2")),
			[]string{"local/web=2", "local/web_old=1"}, map[string]string{"1": "1"}},
		"two of one name":              {event.Change{}, put(c("web", "1"), c("web", "2")), []string{"local/web=2"}, nil},
		"two of one name, one renamed": {put(c("old", "1")), put(c("web", "1"), c("web", "2")), []string{"local/web=2"}, nil},
		"one id twice":                 {event.Change{}, put(c("a", "1"), c("b", "1")), []string{"local/b=1"}, nil},
		"removed": {put(c("a", "1"), c("b", "2")), event.Change{Remove: []string{"1"}},
			[]string{"local/b=2"}, nil},
		"unknown removed": {put(c("a", "1")), event.Change{Remove: []string{"9"}}, []string{"local/a=1"}, nil},
		"removed and added": {put(c("a", "1")), event.Change{
			Put: []sdk.Container{c("a", "1")}, Remove: []string{"1"},
		}, []string{"local/a=1"}, map[string]string{"1": "1"}},
		"moved to another watcher": {put(c("a", "1")), put(sdk.Container{Watcher: "nas", Name: "a", ID: "1"}),
			[]string{"nas/a=1"}, map[string]string{"1": "1"}},
	} {
		t.Run(title, func(t *testing.T) {
			now := start
			s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
			for i, c := range tc.before.Put { // one by one, so that each has its own time
				now = start.Add(seconds(i))
				must(t, s.Commit(t.Context(), put(c)))
			}
			before := s.Snapshot()
			now = start.Add(time.Hour)
			must(t, s.Commit(t.Context(), tc.change))
			twice(t, s, func(s *Store) {
				if got := ids(s); !slices.Equal(got, tc.want) {
					t.Errorf("got %v, want %v", got, tc.want)
				}
				for id, was := range tc.inherits {
					new, _ := s.Snapshot().Get(id)
					old, _ := before.Get(was)
					if !new.FirstSeen.Equal(old.FirstSeen) {
						t.Errorf("%s was first seen %v, want %v as %s", id, new.FirstSeen, old.FirstSeen, was)
					}
				}
				for _, r := range s.Snapshot().All() {
					if by, ok := s.Snapshot().Named(r.Container.Watcher, r.Container.Name); !ok || by != r {
						t.Errorf("Named does not find %s", r.Container.ID)
					}
				}
			})
		})
	}
}

// TestCommitAgreesWithModel makes random changes and holds memory and file against a naive model.
func TestCommitAgreesWithModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s := fresh(t)
	model := map[string]sdk.Container{}
	for step := range 150 {
		var ch event.Change
		for range rnd.IntN(4) {
			ch.Remove = append(ch.Remove, fmt.Sprint(rnd.IntN(8)))
		}
		for range rnd.IntN(5) {
			c := container("local", fmt.Sprint("n", rnd.IntN(5)), fmt.Sprint(rnd.IntN(8)))
			c.Status = []string{"running", "exited"}[rnd.IntN(2)]
			c.Check.At = sdk.TimeOf(start.Add(seconds(rnd.IntN(3))))
			c.Image.Digest.Repos = []string{fmt.Sprint(rnd.IntN(2))}
			ch.Put = append(ch.Put, c)
		}
		for _, id := range ch.Remove {
			delete(model, id)
		}
		for i, c := range ch.Put {
			if slices.ContainsFunc(ch.Put[i+1:], func(later sdk.Container) bool { return later.ID == c.ID }) {
				continue // only the last word on an id counts
			}
			maps.DeleteFunc(model, func(id string, m sdk.Container) bool { return m.Name == c.Name })
			model[c.ID] = c
		}
		must(t, s.Commit(t.Context(), ch))
		if step%10 == 9 {
			s = again(t, s)
		}
		got := map[string]sdk.Container{}
		for _, r := range s.Snapshot().All() {
			got[r.Container.ID] = r.Container
		}
		if !reflect.DeepEqual(got, model) {
			t.Fatalf("step %d: after %+v\ngot  %v\nwant %v", step, ch, got, model)
		}
	}
}

func TestCommitWritesOnlyWhatDiffers(t *testing.T) {
	s := fresh(t)
	all := fleet(50)
	written := func(ch event.Change) int {
		t.Helper()
		count := func() (n int) {
			must(t, s.writer.QueryRow("SELECT total_changes()").Scan(&n))
			return n
		}
		before := count()
		must(t, s.Commit(t.Context(), ch))
		return count() - before
	}
	if got := written(put(all...)); got != 50 {
		t.Errorf("%d rows written for 50 new containers", got)
	}
	version := s.Snapshot().Version()
	if got := written(put(all...)); got != 0 || s.Snapshot().Version() != version {
		t.Errorf("%d rows written although nothing differs", got)
	}
	all[3].Status = "exited"
	if got := written(put(all...)); got != 1 || s.Snapshot().Version() == version {
		t.Errorf("%d rows written for one status", got)
	}
	all[3].Image.Digest.Repos = nil // not part of the JSON form
	if got := written(put(all...)); got != 1 {
		t.Errorf("%d rows written for one change that the API does not show", got)
	}
	s = again(t, s)
	if got := written(put(all...)); got != 0 {
		t.Errorf("%d rows written although nothing differs since the restart", got)
	}
	version = s.Snapshot().Version()
	all[5].Check.At = sdk.TimeOf(start.Add(time.Hour))
	if got := written(put(all...)); got != 1 || s.Snapshot().Version() == version {
		t.Errorf("%d rows written for one check", got)
	}
	r, _ := again(t, s).Snapshot().Get(all[5].ID)
	if !strings.Contains(string(r.JSON), "02:30:00.000Z") || !r.CheckedAt.Equal(start.Add(time.Hour)) {
		t.Errorf("the time of the check was lost: %v in %s", r.CheckedAt, r.JSON)
	}
}

func TestCommitRefusesIncompleteContainersWhole(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
	for _, bad := range []sdk.Container{{Watcher: "local", Name: "x"}, {ID: "2", Name: "x"}, {ID: "2", Watcher: "local"}} {
		err := s.Commit(t.Context(), event.Change{
			Put: []sdk.Container{container("local", "new", "3"), bad}, Remove: []string{"1"}, Events: happenings(1)})
		if err == nil || !strings.Contains(err.Error(), s.Path()) {
			t.Errorf("Commit of %+v returned %v", bad, err)
		}
	}
	if got := ids(again(t, s)); !slices.Equal(got, []string{"local/web=1"}) {
		t.Errorf("a refused change left %v", got)
	}
}

func TestSnapshotIsIndependentOfCallers(t *testing.T) {
	s := fresh(t)
	c := container("local", "web", "1")
	c.Decision = &sdk.Decision{State: sdk.StateHeld, Reasons: []sdk.Reason{{Code: "age.min"}}}
	c.Result.Levels = &sdk.Levels{Minor: &sdk.Release{Tag: "1.26.0"}}
	want := clone(c)
	must(t, s.Commit(t.Context(), put(c)))
	old := s.Snapshot()
	spoil := func(c sdk.Container) {
		c.Labels["x"], c.Result.Tag, c.Error.Message, c.Image.Digest.Repos[0] = "spoilt", "spoilt", "spoilt", "spoilt"
		c.Result.Levels.Minor.Tag, c.Decision.State, c.Decision.Reasons[0].Code = "spoilt", "spoilt", "spoilt"
	}
	spoil(c)
	copies, err := s.Containers(t.Context())
	must(t, err)
	spoil(copies[0])
	if r, _ := old.Get("1"); !reflect.DeepEqual(r.Container.Labels, want.Labels) ||
		!reflect.DeepEqual(r.Container.Result, want.Result) || !reflect.DeepEqual(r.Container.Decision, want.Decision) ||
		*r.Container.Error != *want.Error || r.Container.Image.Digest.Repos[0] != want.Image.Digest.Repos[0] {
		t.Error("a caller changed what is stored")
	}
	must(t, s.Commit(t.Context(), event.Change{Remove: []string{"1"}}))
	if _, ok := old.Get("1"); !ok || len(old.All()) != 1 {
		t.Error("a later commit changed an earlier snapshot")
	}
	if len(s.Snapshot().All()) != 0 || s.Snapshot().Version() == old.Version() {
		t.Error("the removal does not show")
	}
}

func TestUnreadableRowIsReplacedByNextCommit(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), put(container("local", "a", "1"), container("local", "b", "2"))))
	_, err := s.writer.Exec(`UPDATE containers SET doc = '{"labels":7}' WHERE id = '1'`)
	must(t, err)
	s = again(t, s)
	if got := ids(s); !slices.Equal(got, []string{"local/b=2"}) {
		t.Fatalf("got %v", got)
	}
	must(t, s.Commit(t.Context(), put(container("local", "a", "3")))) // recreated meanwhile
	if got := ids(again(t, s)); !slices.Equal(got, []string{"local/a=3", "local/b=2"}) {
		t.Fatalf("got %v", got)
	}
}

func TestWriteEndsWithItsContext(t *testing.T) {
	s := fresh(t)
	conn, err := s.writer.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Commit(ctx, put(container("local", "a", "1"))); err == nil || len(s.Snapshot().All()) != 0 {
		t.Errorf("Commit returned %v", err)
	}
}
