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

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// foreign is what another program knew.
func foreign(n int) ([]sdk.Container, []update.Notified) {
	cs := fleet(n)
	var told []update.Notified
	for _, c := range cs {
		told = append(told, update.Notified{Container: c.ID, Subject: event.Subject(c), Tag: c.Image.Tag.Value, Remote: c.Result.Tag})
	}
	return cs, told
}

func TestImportOnce(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	if done, err := s.Imported(ctx, "wud.json"); err != nil || done {
		t.Fatalf("a new store: imported %t, %v", done, err)
	}
	cs, told := foreign(3)
	done, err := s.Import(ctx, "wud.json", cs, told)
	if err != nil || !done {
		t.Fatalf("imported %t, %v", done, err)
	}
	check := func(s *Store) {
		t.Helper()
		if done, err := s.Imported(ctx, "wud.json"); err != nil || !done {
			t.Errorf("imported %t, %v", done, err)
		}
		if got, err := s.AlreadyNotified(ctx); err != nil || !slices.Equal(got, told) {
			t.Errorf("told %+v, %v", got, err)
		}
		if got := ids(s); len(got) != 3 {
			t.Errorf("containers %v", got)
		}
		events, err := s.Events(ctx, 0, 0)
		if err != nil || len(events) != 3 || events[0].Type != event.ContainerAdded || events[0].Container.ID != cs[0].ID || !events[0].At.Equal(start) {
			t.Errorf("events %+v, %v", events, err)
		}
	}
	twice(t, s, check)
	s = again(t, s)
	// Another time changes nothing, whatever the file says by then.
	more, moreTold := foreign(5)
	if done, err := s.Import(ctx, "wud.json", more, moreTold); err != nil || done {
		t.Errorf("again: imported %t, %v", done, err)
	}
	twice(t, s, check)
}

// TestImportIntoUse leaves the containers of a store in use alone.
func TestImportIntoUse(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
	cs, told := foreign(2)
	if done, err := s.Import(t.Context(), "wud.json", cs, told); err != nil || !done {
		t.Fatalf("imported %t, %v", done, err)
	}
	twice(t, s, func(s *Store) {
		if got := ids(s); !slices.Equal(got, []string{"local/web=1"}) {
			t.Errorf("containers %v", got)
		}
		if got, err := s.AlreadyNotified(t.Context()); err != nil || len(got) != 2 {
			t.Errorf("told %+v, %v", got, err)
		}
	})
}

// TestImportIsAllOrNothing: what cannot be stored leaves no mark.
func TestImportIsAllOrNothing(t *testing.T) {
	s := fresh(t)
	cs, told := foreign(2)
	cs[1].Name = ""
	if done, err := s.Import(t.Context(), "wud.json", cs, told); err == nil || done {
		t.Fatalf("imported %t, %v", done, err)
	}
	twice(t, s, func(s *Store) {
		done, err := s.Imported(t.Context(), "wud.json")
		must(t, err)
		got, err := s.AlreadyNotified(t.Context())
		must(t, err)
		if done || len(got) > 0 || len(ids(s)) > 0 {
			t.Errorf("imported %t, told %v, containers %v", done, got, ids(s))
		}
	})
}

func TestPruneForgetsWhatWasToldOfContainersThatAreGone(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	_, told := foreign(3)
	told[0].Container, told[1].Subject = "1", "local/db"
	_, err := s.Import(ctx, "wud.json", []sdk.Container{container("local", "web", "1"), container("local", "db", "2")}, told)
	must(t, err)
	must(t, s.Prune(ctx, start)) // not old enough
	if got, err := s.AlreadyNotified(ctx); err != nil || len(got) != 3 {
		t.Fatalf("told %+v, %v", got, err)
	}
	must(t, s.Prune(ctx, start.Add(time.Hour)))
	if got, err := s.AlreadyNotified(ctx); err != nil || !slices.Equal(got, told[:2]) {
		t.Errorf("told %+v, %v", got, err)
	}
}

// importForEver is the part of a child that is killed: it imports and says so.
func importForEver(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	cs, told := foreign(200)
	fmt.Println("importing")
	done, err := s.Import(ctx, "wud.json", cs, told)
	if err != nil {
		return err
	}
	fmt.Println(done)
	select {} // until it is killed
}

// TestKilledWhileImporting kills an import in mid-flight, again and again: it has happened whole or not at all.
func TestKilledWhileImporting(t *testing.T) {
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
		told, err := s.AlreadyNotified(t.Context())
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
		if len(told) != want || len(ids(s)) != want || last != int64(want) || said && !done {
			t.Fatalf("imported %t (said %t): %d told, %d containers, %d events", done, said, len(told), len(ids(s)), last)
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
