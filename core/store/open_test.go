package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/notify/webpush"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/sdk"
)

var updateGolden = flag.Bool("update", false,
	"write the store file of the current schema to testdata, if there is none yet")

func TestOpenMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "odd ?#%41 name")
	s := open(t, filepath.Join(dir, "store.db"))
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
	for name, want := range map[string]os.FileMode{".": 0o700, "store.db": 0o600, "store.db-wal": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
	if got := ids(again(t, s)); !slices.Equal(got, []string{"local/web=1"}) {
		t.Errorf("got %v", got)
	}
	if s.Path() != filepath.Join(dir, "store.db") {
		t.Errorf("path %s", s.Path())
	}
}

func TestOpenSetsPragmas(t *testing.T) {
	s := fresh(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "1", "busy_timeout": "5000", "cache_size": "-500",
	} {
		var got string
		must(t, s.writer.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	if _, err := s.reader.Exec("DELETE FROM events"); err == nil {
		t.Error("a reader can write")
	}
}

// TestOpenRefuses opens files that cannot be used: each error names the file and what is wrong, and not a byte changes.
func TestOpenRefuses(t *testing.T) {
	stored := func(t *testing.T, path string) {
		s := open(t, path)
		must(t, s.Commit(t.Context(), event.Change{Put: fleet(200), Events: happenings(200)}))
		must(t, s.Close())
	}
	exec := func(t *testing.T, path string, statements ...string) {
		db, err := connect(path, 1, nil)
		must(t, err)
		defer db.Close()
		for _, statement := range statements {
			_, err := db.Exec(statement)
			must(t, err)
		}
	}
	edit := func(t *testing.T, path string, change func([]byte) []byte) {
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, change(b), 0o600))
	}
	for title, tc := range map[string]struct {
		make func(t *testing.T, path string)
		want error
		text string
	}{
		"newer": {func(t *testing.T, path string) {
			stored(t, path)
			exec(t, path, "PRAGMA user_version = 99", "ALTER TABLE containers RENAME TO boxes")
		}, ErrNewer, "version 99"},
		"newer, still in its log": {func(t *testing.T, path string) {
			stored(t, path)
			db, err := connect(path, 1, nil)
			must(t, err)
			t.Cleanup(func() { _ = db.Close() }) // until then the file itself is not up to date
			_, err = db.Exec("PRAGMA user_version = 99")
			must(t, err)
		}, ErrNewer, "version 99"},
		"another program's": {func(t *testing.T, path string) {
			exec(t, path, "CREATE TABLE songs (title)")
		}, ErrCorrupt, "another program"},
		"another program's, by its mark": {func(t *testing.T, path string) {
			exec(t, path, "CREATE TABLE songs (title)", "PRAGMA application_id = 7", "PRAGMA user_version = 1")
		}, ErrCorrupt, "another program"},
		"no database": {func(t *testing.T, path string) {
			must(t, os.WriteFile(path, bytes.Repeat([]byte("{\"containers\": []}\n"), 500), 0o600))
		}, ErrCorrupt, "restore"},
		"half of a header": {func(t *testing.T, path string) {
			stored(t, path)
			edit(t, path, func(b []byte) []byte { return b[:50] })
		}, ErrCorrupt, "restore"},
		"cut short": {func(t *testing.T, path string) {
			stored(t, path)
			edit(t, path, func(b []byte) []byte { return b[:len(b)/2] })
		}, ErrCorrupt, "restore"},
		"overwritten in the middle": {func(t *testing.T, path string) {
			stored(t, path)
			edit(t, path, func(b []byte) []byte { copy(b[len(b)/4:], bytes.Repeat([]byte{0xa5}, len(b)/2)); return b })
		}, ErrCorrupt, "restore"},
	} {
		t.Run(title, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			tc.make(t, path)
			before := contents(t, filepath.Dir(path))
			s, err := Open(t.Context(), path, Options{})
			if err == nil {
				must(t, s.Close())
				t.Fatal("opened")
			}
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error is %v", err)
			}
			t.Log(err)
			for name, now := range contents(t, filepath.Dir(path)) {
				if name != "store.db-shm" && !bytes.Equal(now, before[name]) { // that one holds locks, not data
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	out := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		out[e.Name()] = b
	}
	return out
}

func TestOpenSaysWhereItMayNotWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{filepath.Join(file, "store.db"), dir} {
		if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("error for %s is %v", path, err)
		} else {
			t.Log(err)
		}
	}
}

func TestOpenAgainAfterACreationCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := connect(path, 1, pragmas("journal_mode(wal)"))
	must(t, err)
	must(t, db.Ping())
	must(t, db.Close())
	s := open(t, path)
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
}

func TestOpenStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := Open(ctx, filepath.Join(t.TempDir(), "store.db"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v, %v", s, err)
	}
}

func TestUpgradeSavesABackupFirst(t *testing.T) {
	s := fresh(t)
	ctx := t.Context()
	must(t, s.Commit(ctx, put(container("local", "web", "1"))))
	released, err := embedded()
	must(t, err)
	version := len(released)
	backup := fmt.Sprintf("%s.v%d.bak", s.Path(), version)
	if _, err := os.Stat(backup); err == nil {
		t.Fatal("a new file was backed up")
	}

	broken := append(slices.Clone(released), "ALTER TABLE containers ADD COLUMN more TEXT; UPDATE nonsense SET a = 1;")
	must(t, os.WriteFile(backup+".partial", []byte("left by a crash"), 0o600))
	if err := s.migrate(ctx, broken); err == nil || !strings.Contains(err.Error(), fmt.Sprint("version ", version+1)) {
		t.Errorf("a broken migration returned %v", err)
	}
	if now, err := s.version(ctx); err != nil || now != version {
		t.Errorf("version %d after a failed upgrade (%v), want %d", now, err, version)
	}
	good := append(slices.Clone(released), "ALTER TABLE containers ADD COLUMN more TEXT;", "CREATE TABLE extra (a);")
	must(t, s.migrate(ctx, good)) // also proves that nothing of the broken one stayed
	must(t, s.migrate(ctx, good)) // nothing left to do
	if now, err := s.version(ctx); err != nil || now != version+2 {
		t.Errorf("version %d, %v", now, err)
	}
	must(t, s.Close())
	if _, err := Open(ctx, s.Path(), Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("the upgraded file: %v", err)
	}
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("backup: %v, %v", info, err)
	}
	if got := ids(open(t, backup)); !slices.Equal(got, []string{"local/web=1"}) {
		t.Errorf("the backup holds %v", got)
	}
	if left, _ := filepath.Glob(s.Path() + "*.partial"); left != nil {
		t.Errorf("left behind %v", left)
	}
}

func TestUpgradeWithoutRoomForABackupChangesNothing(t *testing.T) {
	s := fresh(t)
	must(t, s.Commit(t.Context(), put(container("local", "web", "1"))))
	released, err := embedded()
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(fmt.Sprintf("%s.v%d.bak", s.Path(), len(released)), "in the way"), 0o700))
	if err := s.migrate(t.Context(), append(released, "CREATE TABLE extra (a);")); err == nil ||
		!strings.Contains(err.Error(), "backup") {
		t.Errorf("migrate returned %v", err)
	}
	if now, err := s.version(t.Context()); err != nil || now != len(released) {
		t.Errorf("version %d, %v", now, err)
	}
}

// TestEveryReleasedFileOpens opens a file of each schema ever released and reads all of it.
func TestEveryReleasedFileOpens(t *testing.T) {
	released, err := embedded()
	must(t, err)
	for version := range len(released) {
		name := filepath.Join("testdata", fmt.Sprintf("v%d.db", version+1))
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			saved, err := os.ReadFile(name)
			if *updateGolden && errors.Is(err, os.ErrNotExist) && version+1 == len(released) {
				fill(t, path)
				saved, err = os.ReadFile(path)
				must(t, err)
				must(t, os.WriteFile(name, saved, 0o644))
			}
			must(t, err)
			must(t, os.WriteFile(path, saved, 0o600))
			full(t, open(t, path))
		})
	}
}

// fill makes a store with something in every table; full checks that it is there.
func fill(t *testing.T, path string) {
	s := open(t, path)
	ctx := t.Context()
	must(t, s.SetTypeOwner(ctx, "trigger.file", "file", "RWQ"))
	must(t, s.SavePluginDescription(ctx, []byte{1, 2, 3}, "1", []byte("{}")))
	must(t,
		s.Commit(ctx,
			event.Change{Put: []sdk.Container{container("local", "web", "1"), container("local", "db", "2")},
				Events:     happenings(2),
				Candidates: map[string][]byte{"local/web": encoded(t, webFound)}}))
	must(t, s.PutChoice(ctx, webChoice, nil))
	must(t, s.PlanSummary(ctx, "ntfy.phone", webSummary))
	web := offer("smtp.main", "local/web", "f1")
	web.Containers = []string{"1"}
	plan(t, s, web, offer("smtp.main", "local/db", "f2"))
	must(t, s.Finish(ctx, claim(t, s, "smtp.main", start).ID, delivery.Outcome{State: delivery.Failed, Error: "refused"}))
	must(t, s.Trust(ctx, "file", []byte{1, 2, 3}))
	must(t, s.CachePut(ctx, CacheEntry{Key: "tags", Validator: `"v"`, Body: tagList(50)}))
	_, err := s.Import(ctx, "wud.json", nil, []update.Notified{notified})
	must(t, err)
	must(t, s.AddAgentToken(ctx,
		agent.Wanted{ID: "one", Hash: []byte{1}, Creator: "ana", Expires: start.Add(seconds(60))}))
	_, err = s.JoinAgent(ctx, "one", []byte{1}, agent.Agent{Name: "nas", Key: []byte{2}, Joined: start})
	must(t, err)
	_, err = s.WebPushKey(ctx, []byte{3})
	must(t, err)
	must(t, s.AddWebPushDevice(ctx, phone, 1))
	must(t, s.RecordWebPush(ctx, phone.ID, "d1", start))
	must(t, s.Close())
}

// phone is in every file that can have it.
var phone = webpush.Device{
	ID: "p1", User: "ana", Name: "Firefox on Android", Created: start,
	Subscription: webpush.Subscription{Endpoint: "https://push.example.org/1", P256dh: "k", Auth: "a"},
}

// webSummary is in every file that can have it.
var webSummary = delivery.Summary{Due: start, Event: 2}

// notified is in every file that can have it.
var notified = update.Notified{Container: "1", Subject: "local/web", Tag: "1.25.0", Remote: "1.26.0"}

func full(t *testing.T, s *Store) {
	ctx := t.Context()
	// A file from before imports is in use, and has nothing to import.
	if done, err := s.Imported(ctx, "wud.json"); err != nil || !done {
		t.Errorf("imported %t, %v", done, err)
	}
	if all, err := s.AlreadyNotified(ctx); err != nil || len(all) > 1 || len(all) == 1 && all[0] != notified {
		t.Errorf("notified of %+v, %v", all, err)
	}
	r, ok := s.Snapshot().Named("local", "web")
	want := container("local", "web", "1")
	if !ok || r.Container.Result.Tag != want.Result.Tag ||
		!slices.Equal(r.Container.Image.Digest.Repos, want.Image.Digest.Repos) ||
		!r.FirstSeen.Equal(start) || !r.FoundAt.Equal(start) || !r.CheckedAt.Equal(want.Check.At.Truncate(1e6)) {
		t.Errorf("container %+v", r)
	}
	if events, err := s.Events(ctx, 0, 0); err != nil || len(events) != 2 || events[0].Container.Name != "web" {
		t.Errorf("events %+v, %v", events, err)
	}
	// A file from before candidates has none.
	if all, err := s.Choices(ctx); err != nil || len(all) > 1 || len(all) == 1 && !reflect.DeepEqual(all[0], webChoice) {
		t.Errorf("choices %+v, %v", all, err)
	}
	if last, err := s.LastSummary(ctx, "ntfy.phone"); err != nil ||
		last != (delivery.Summary{}) && (!last.Due.Equal(start) || last.Event != 2) {
		t.Errorf("the last summary is %+v, %v", last, err)
	}
	if all, err := s.Candidates(ctx); err != nil || len(all) > 1 ||
		len(all) == 1 && !reflect.DeepEqual(all["local/web"], webFound) {
		t.Errorf("candidates %+v, %v", all, err)
	}
	if at, err := s.Cursor(ctx, "dispatch"); err != nil || at != 1 {
		t.Errorf("cursor %d, %v", at, err)
	}
	if d, err := s.Delivery(ctx, 1); err != nil || d.State != delivery.Failed || d.Error != "refused" ||
		len(d.Payload) == 0 || d.Containers[0] != "1" {
		t.Errorf("delivery %+v, %v", d, err)
	}
	if d := claim(t, s, "smtp.main", start); d.Subject != "local/db" {
		t.Errorf("pending are %+v", d)
	}
	if sum, trusted, err := s.Checksum(ctx, "file"); err != nil || !bytes.Equal(sum, []byte{1, 2, 3}) || !trusted {
		t.Errorf("checksum %x, %v, %v", sum, trusted, err)
	}
	// A file from before agents has none.
	if all, err := s.Agents(ctx); err != nil || len(all) > 1 ||
		len(all) == 1 && (all[0].Name != "nas" || all[0].Creator != "ana" || !all[0].Joined.Equal(start)) {
		t.Errorf("agents %+v, %v", all, err)
	}
	// A file from before Web Push has none.
	sent := phone
	sent.Sent = start
	if all, err := s.WebPushDevices(ctx); err != nil || len(all) > 1 || len(all) == 1 && all[0] != sent {
		t.Errorf("devices %+v, %v", all, err)
	}
	// A file from before owners of types has none.
	if owners := owners(t, s); len(owners) > 1 || len(owners) == 1 && owners["trigger.file"] != "file RWQ" {
		t.Errorf("owners of types %v", owners)
	}
	if e, ok, err := s.CacheGet(ctx, "tags"); err != nil || !ok || !bytes.Equal(e.Body, tagList(50)) ||
		e.Validator != `"v"` {
		t.Errorf("cache %+v, %v, %v", e, ok, err)
	}
}
