package choice_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/sdk"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func key(version string) update.Key {
	return update.Key{Subject: "local/web", Kind: sdk.KindTag, FromTag: "8.1.0", ToTag: version}
}

// bench has choices on a real store.
type bench struct {
	*choice.Choices
	t       *testing.T
	store   *store.Store
	path    string
	changed int
}

func open(t *testing.T) *bench {
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "store.db")}
	b.start()
	t.Cleanup(func() { b.store.Close() })
	return b
}

func (b *bench) start() {
	b.t.Helper()
	b.store = storetest.Open(b.t, b.path, store.Options{Bus: new(event.Bus), Log: hclog.NewNullLogger()})
	b.Choices = choice.New(choice.Options{
		Store: b.store, Now: func() time.Time { return noon }, Changed: func(context.Context) { b.changed++ },
	})
}

func (b *bench) choose(version string, kind choice.Kind, until time.Time) error {
	k := update.Key{}
	if version != "" {
		k = key(version)
	}
	return b.Choose(context.Background(), "ana", "local/web", k, kind, until)
}

func (b *bench) text() string {
	var all []string
	for _, c := range b.Of("local/web") {
		all = append(all, string(c.Kind)+" "+c.Version())
	}
	return strings.Join(all, ", ")
}

// TestChoicesSurviveARestart, and the last one about a version counts.
func TestChoicesSurviveARestart(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		version string
		kind    choice.Kind
		until   time.Time
	}{{"9.0.0", choice.Skip, time.Time{}}, {"8.2.1", choice.Snooze, time.Time{}},
		{"9.0.0", choice.Approved, time.Time{}}, {"", choice.Snooze, noon.Add(time.Hour)}} {
		if err := b.choose(c.version, c.kind, c.until); err != nil {
			t.Fatal(err)
		}
	}
	want := "snooze , snooze 8.2.1, approve 9.0.0"
	if got := b.text(); got != want {
		t.Errorf("choices %q, want %q", got, want)
	}
	if b.changed != 4 {
		t.Errorf("decided again %d times", b.changed)
	}
	b.store.Close()
	b.start()
	for _, part := range strings.Split(want, ", ") {
		if !strings.Contains(b.text(), part) {
			t.Errorf("after a restart %q is gone: %q", part, b.text())
		}
	}
	if n, err := b.Undo(context.Background(), "ben", "local/web"); n != 3 || err != nil || b.text() != "" ||
		len(b.All()) != 0 {
		t.Errorf("undone %d, %v, left %q", n, err, b.text())
	}
	if n, err := b.Undo(context.Background(), "ben", "local/web"); n != 0 || err != nil {
		t.Errorf("undone again: %d, %v", n, err)
	}
	events, err := b.store.Events(context.Background(), 0, 100)
	if err != nil || len(events) != 7 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if last := events[6]; last.Type != event.ChoiceUndone || last.Choice.Actor != "ben" || last.Subject != "local/web" {
		t.Errorf("the last event is %+v", last)
	}
}

func TestChooseRefuses(t *testing.T) {
	b := open(t)
	other := key("9.0.0")
	other.Subject = "local/db"
	for about, c := range map[string]struct {
		key   update.Key
		kind  choice.Kind
		until time.Time
		field string
	}{
		"unknown action":          {key("9.0.0"), "ignore", time.Time{}, "action"},
		"another container":       {other, choice.Skip, time.Time{}, "version"},
		"to skip everything":      {update.Key{}, choice.Skip, time.Time{}, "version"},
		"to approve everything":   {update.Key{}, choice.Approved, time.Time{}, "version"},
		"to snooze all for ever":  {update.Key{}, choice.Snooze, time.Time{}, "until"},
		"a snooze that has ended": {key("9.0.0"), choice.Snooze, noon, "until"},
		"a snooze without end":    {key("9.0.0"), choice.Snooze, noon.AddDate(6, 0, 0), "until"},
		"to skip until a date":    {key("9.0.0"), choice.Skip, noon.Add(time.Hour), "until"},
		"to approve until a date": {key("9.0.0"), choice.Approved, noon.Add(time.Hour), "until"},
	} {
		var invalid *sdk.InvalidError
		err := b.Choose(context.Background(), "ana", "local/web", c.key, c.kind, c.until)
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != c.field {
			t.Errorf("%s: %v", about, err)
		}
	}
	if b.text() != "" || b.changed > 0 {
		t.Errorf("choices %q, decided again %d times", b.text(), b.changed)
	}
}

// TestChooseFails: what is not stored is not decided about.
func TestChooseFails(t *testing.T) {
	b := open(t)
	b.store.Close()
	if err := b.choose("8.2.1", choice.Skip, time.Time{}); err == nil || b.text() != "" || b.changed > 0 {
		t.Errorf("with a closed store: %v, choices %q, decided again %d times", err, b.text(), b.changed)
	}
}

// TestDatedSnoozeIsOfEveryVersion, whichever it was made for, with a link or without.
func TestDatedSnoozeIsOfEveryVersion(t *testing.T) {
	b := open(t)
	until := noon.Add(time.Hour)
	for title, snooze := range map[string]func() error{
		"of a version": func() error { return b.choose("9.0.0", choice.Snooze, until) },
		"of all":       func() error { return b.choose("", choice.Snooze, until) },
		"with a link": func() error {
			return b.ChooseWith(context.Background(), choice.SignedLinkUse{Nonce: []byte("n"), Expires: until},
				"link of trigger ntfy.main", "local/web", key("9.0.0"), choice.Snooze, until)
		},
	} {
		if err := snooze(); err != nil {
			t.Errorf("%s: %v", title, err)
		}
		if all := b.Of("local/web"); len(all) != 1 || all[0].Version() != "" || !all[0].Until.Equal(until) {
			t.Errorf("%s: %+v", title, all)
		}
	}
}

// TestChooseWithStoresTheUseOfTheLink with the choice: both, or neither.
func TestChooseWithStoresTheUseOfTheLink(t *testing.T) {
	b := open(t)
	use := choice.SignedLinkUse{Nonce: []byte("nonce"), Trigger: "ntfy.main", Action: "skip", At: noon, Expires: noon.Add(time.Hour)}
	with := func(version string) error {
		return b.ChooseWith(context.Background(), use, "link of trigger ntfy.main", "local/web", key(version),
			choice.Skip, time.Time{})
	}
	if err := with("9.0.0"); err != nil {
		t.Fatal(err)
	}
	if got, known, err := b.store.SignedLinkUse(context.Background(), use.Nonce); err != nil || !known ||
		got.Action != "skip" || !got.At.Equal(noon) {
		t.Errorf("use %+v, %t, %v", got, known, err)
	}
	if err := with("8.2.1"); err == nil || b.text() != "skip 9.0.0" || b.changed != 1 {
		t.Errorf("a link that was used: %v, choices %q, decided again %d times", err, b.text(), b.changed)
	}
}

// TestChooseConcurrently: memory and store agree on who was last.
func TestChooseConcurrently(t *testing.T) {
	b := open(t)
	b.Choices = choice.New(choice.Options{Store: b.store, Now: func() time.Time { return noon }})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			kind := []choice.Kind{choice.Skip, choice.Snooze, choice.Approved}[i%3]
			if err := b.choose("9.0.0", kind, time.Time{}); err != nil {
				t.Error(err)
			}
			_ = b.Of("local/web")
		})
	}
	all.Wait()
	stored, err := b.store.Choices(context.Background())
	if err != nil || len(stored) != 1 || len(b.Of("local/web")) != 1 || stored[0] != b.Of("local/web")[0] {
		t.Errorf("stored %+v, %v; in memory %+v", stored, err, b.Of("local/web"))
	}
}
