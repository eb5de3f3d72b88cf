package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// foreign is what another program knew.
func foreign(n int) ([]sdk.Container, []update.Notified) {
	cs := fleet(n)
	var notified []update.Notified
	for _, c := range cs {
		notified = append(notified, update.Notified{
			Container: c.ID, Subject: event.Subject(c), Tag: c.Image.Tag.Value, Remote: c.Result.Tag,
		})
	}
	return cs, notified
}

func TestImportOnce(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	if done, err := s.Imported(ctx, "wud.json"); err != nil || done {
		t.Fatalf("a new store: imported %t, %v", done, err)
	}
	cs, notified := foreign(3)
	done, err := s.Import(ctx, "wud.json", cs, notified)
	if err != nil || !done {
		t.Fatalf("imported %t, %v", done, err)
	}
	check := func(s *Store) {
		t.Helper()
		if done, err := s.Imported(ctx, "wud.json"); err != nil || !done {
			t.Errorf("imported %t, %v", done, err)
		}
		if got, err := s.AlreadyNotified(ctx); err != nil || !slices.Equal(got, notified) {
			t.Errorf("notified of %+v, %v", got, err)
		}
		if got := ids(s); len(got) != 3 {
			t.Errorf("containers %v", got)
		}
		events, err := s.Events(ctx, 0, 0)
		if err != nil || len(events) != 3 || events[0].Type != event.ContainerAdded ||
			events[0].Container.ID != cs[0].ID || !events[0].At.Equal(start) {
			t.Errorf("events %+v, %v", events, err)
		}
	}
	twice(t, s, check)
	s = again(t, s)
	// Another time changes nothing, whatever the file says by then.
	more, moreNotified := foreign(5)
	if done, err := s.Import(ctx, "wud.json", more, moreNotified); err != nil || done {
		t.Errorf("again: imported %t, %v", done, err)
	}
	twice(t, s, check)
}

// TestImportIntoStoreInUse leaves the containers of a store in use alone.
func TestImportIntoStoreInUse(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
	cs, notified := foreign(2)
	if done, err := s.Import(t.Context(), "wud.json", cs, notified); err != nil || !done {
		t.Fatalf("imported %t, %v", done, err)
	}
	twice(t, s, func(s *Store) {
		if got := ids(s); !slices.Equal(got, []string{"local/web=1"}) {
			t.Errorf("containers %v", got)
		}
		if got, err := s.AlreadyNotified(t.Context()); err != nil || len(got) != 2 {
			t.Errorf("notified of %+v, %v", got, err)
		}
	})
}

// TestImportIsAllOrNothing: what cannot be stored leaves no mark.
func TestImportIsAllOrNothing(t *testing.T) {
	s := fresh(t)
	cs, notified := foreign(2)
	cs[1].Name = ""
	if done, err := s.Import(t.Context(), "wud.json", cs, notified); err == nil || done {
		t.Fatalf("imported %t, %v", done, err)
	}
	twice(t, s, func(s *Store) {
		done, err := s.Imported(t.Context(), "wud.json")
		must(t, err)
		got, err := s.AlreadyNotified(t.Context())
		must(t, err)
		if done || len(got) > 0 || len(ids(s)) > 0 {
			t.Errorf("imported %t, notified of %v, containers %v", done, got, ids(s))
		}
	})
}

func TestPruneDropsNotifiedOfRemovedContainers(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	_, notified := foreign(3)
	notified[0].Container, notified[1].Subject = "1", "local/db"
	_, err := s.Import(ctx, "wud.json", []sdk.Container{container("local", "web", "1"), container("local", "db", "2")},
		notified)
	must(t, err)
	must(t, s.Prune(ctx, start)) // not old enough
	if got, err := s.AlreadyNotified(ctx); err != nil || len(got) != 3 {
		t.Fatalf("notified of %+v, %v", got, err)
	}
	must(t, s.Prune(ctx, start.Add(time.Hour)))
	if got, err := s.AlreadyNotified(ctx); err != nil || !slices.Equal(got, notified[:2]) {
		t.Errorf("notified of %+v, %v", got, err)
	}
}

// importForEver is the part of a child that is killed: it imports and says so.
func importForEver(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	cs, notified := foreign(200)
	fmt.Println("importing")
	done, err := s.Import(ctx, "wud.json", cs, notified)
	if err != nil {
		return err
	}
	fmt.Println(done)
	select {} // until it is killed
}

// TestKillDuringImport kills an import in mid-flight, again and again: it has happened whole or not at all.
func TestKillDuringImport(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var before, after int
	for i := range 24 {
		path := filepath.Join(t.TempDir(), "store.db")
		cmd := childCommand(t, "import", path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "importing" {
			t.Fatalf("the child says %q", lines.Text())
		}
		said := false
		if i%4 == 0 {
			said = lines.Scan() // the import has ended
		} else {
			spin(rnd.IntN(150_000))
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed, which is an error
		s := open(t, path)
		done, err := s.Imported(t.Context(), "wud.json")
		must(t, err)
		notified, err := s.AlreadyNotified(t.Context())
		must(t, err)
		last, err := s.LastEvent(t.Context())
		must(t, err)
		want := 0
		if done {
			want = 200
			after++
		} else {
			before++
		}
		if len(notified) != want || len(ids(s)) != want || last != int64(want) || said && !done {
			t.Fatalf("imported %t (said %t): %d notified, %d containers, %d events", done, said, len(notified),
				len(ids(s)), last)
		}
		cs, again := foreign(200)
		if redone, err := s.Import(t.Context(), "wud.json", cs, again); err != nil || redone == done || len(ids(s)) != 200 {
			t.Fatalf("after that: imported %t, %v, %d containers", redone, err, len(ids(s)))
		}
		must(t, s.Close())
	}
	t.Logf("killed before the commit %d times, after it %d times", before, after)
}

// spin lets a child go on for a moment that differs each time.
func spin(n int) {
	for range n {
		_ = os.Getpid()
	}
}
