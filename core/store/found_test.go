package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestFoundAtFollowsTheUpdateKey is since when the update of a container is known: for as long as it is the same one.
func TestFoundAtFollowsTheUpdateKey(t *testing.T) {
	offered := func(tag string, change ...func(*sdk.Container)) sdk.Container {
		c := container("local", "web", "1")
		c.Result.Tag, c.UpdateKind.RemoteValue = tag, tag
		for _, f := range change {
			f(&c)
		}
		return c
	}
	none := offered("1.25.0", func(c *sdk.Container) {
		c.UpdateAvailable, c.UpdateKind = false, sdk.UpdateKind{Kind: sdk.KindUnknown}
	})
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	for i, step := range []struct {
		title string
		put   sdk.Container
		want  time.Duration // since the start; negative is "no update"
	}{
		{"nothing newer", none, -1},
		{"found", offered("1.26.0"), seconds(1)},
		{"checked again", offered("1.26.0", func(c *sdk.Container) { c.Check.At = sdk.TimeOf(start.Add(time.Hour)) }),
			seconds(1)},
		{"dated", offered("1.26.0", func(c *sdk.Container) { c.Result.Created = sdk.TimeOf(start.Add(-time.Hour)) }),
			seconds(1)},
		{"a check failed", offered("1.26.0", func(c *sdk.Container) { c.Check.State = sdk.CheckFailed }), seconds(1)},
		{"recreated", offered("1.26.0", func(c *sdk.Container) { c.ID = "2" }), seconds(1)},
		{"another tag", offered("1.27.0"), seconds(6)},
		{"another kind", offered("1.27.0", func(c *sdk.Container) { c.UpdateKind.Kind = sdk.KindDigest }), seconds(7)},
		{"updated", none, -1},
		{"found anew", offered("1.26.0"), seconds(9)},
	} {
		now = start.Add(seconds(i))
		must(t, s.Commit(t.Context(), put(step.put)))
		var want time.Time
		if step.want >= 0 {
			want = start.Add(step.want)
		}
		r, _ := s.Snapshot().Named("local", "web")
		if !r.FoundAt.Equal(want) {
			t.Errorf("%s: found at %v, want %v", step.title, r.FoundAt, want)
		}
	}
	reread, _ := again(t, s).Snapshot().Named("local", "web")
	if !reread.FoundAt.Equal(start.Add(seconds(9))) {
		t.Errorf("found at %v in the file", reread.FoundAt)
	}
}

// TestMigrationFillsFoundAtFromTheLog fills in since when updates are known, in a file of version 3, which did not keep
// it.
func TestMigrationFillsFoundAtFromTheLog(t *testing.T) {
	released, err := embedded()
	must(t, err)
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := connect(path, 1, nil)
	must(t, err)
	run := func(statement string, args ...any) {
		t.Helper()
		_, err := db.Exec(statement, args...)
		must(t, err)
	}
	for _, text := range released[:3] {
		run(text)
	}
	run(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 3;", applicationID))
	doc := func(v any) string {
		text, err := encode(v)
		must(t, err)
		return string(text)
	}
	for _, name := range []string{"web", "old", "fine"} {
		c := container("local", name, name)
		c.UpdateAvailable = name != "fine"
		run("INSERT INTO containers VALUES (?, 'local', ?, 1, 2, '[]', ?)", name, name, doc(c))
	}
	at := func(n int, name, tag string) {
		c := container("local", name, name)
		c.Result.Tag, c.UpdateKind.RemoteValue = tag, tag
		run("INSERT INTO events (at, type, subject, run, doc) VALUES (?, 'update.found', ?, '', ?)",
			millis(start.Add(seconds(n))), event.Subject(c), doc(event.Payload{Container: &c}))
	}
	at(1, "web", "1.25.9")
	at(2, "web", "1.26.0")
	at(3, "web", "1.26.0")
	at(4, "other", "1.26.0")
	run("INSERT INTO events (at, type, subject, run, doc) VALUES (?, 'check.finished', 'local', '', '{}')",
		millis(start.Add(seconds(5))))
	must(t, db.Close())

	s := open(t, path)
	for name, want := range map[string]time.Time{"web": start.Add(seconds(2)), "old": start.Add(seconds(1)), "fine": {}} {
		if r, known := s.Snapshot().Named("local", name); !known || !r.FoundAt.Equal(want) {
			t.Errorf("%s: found at %v, want %v", name, r.FoundAt, want)
		}
	}
}
