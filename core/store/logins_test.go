package store

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"
)

func session(n int, user string, created time.Time) Session {
	return Session{
		Hash: fmt.Appendf(nil, "%032d", n), User: user, Provider: "basic.main", Stamp: []byte("stamp"),
		Created: created, Expires: created.Add(seconds(60)),
	}
}

func TestSessionsOutliveTheProcess(t *testing.T) {
	now := start
	path := t.TempDir() + "/store.db"
	reopen := func() *Store { return open(t, path, func(o *Options) { o.Now = func() time.Time { return now } }) }
	s := reopen()
	want := session(1, "ana", start)
	must(t, s.AddSession(t.Context(), want))
	must(t, s.Close())
	s = reopen()
	got, err := s.Session(t.Context(), want.Hash)
	if err != nil || got.User != "ana" || got.Provider != "basic.main" || !bytes.Equal(got.Stamp, want.Stamp) ||
		!got.Created.Equal(start) || !got.Expires.Equal(want.Expires) {
		t.Errorf("got %+v, %v", got, err)
	}
	want.Used, want.Expires, want.Kept = start.Add(seconds(60)), start.Add(seconds(120)), true
	must(t, s.UseSession(t.Context(), want))
	if got, err := s.Session(t.Context(), want.Hash); err != nil || !got.Used.Equal(want.Used) ||
		!got.Expires.Equal(want.Expires) || !got.Kept {
		t.Errorf("used: %+v, %v", got, err)
	}
	now = start.Add(seconds(119))
	if _, err := s.Session(t.Context(), want.Hash); err != nil {
		t.Error(err)
	}
	now = start.Add(seconds(120))
	if _, err := s.Session(t.Context(), want.Hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("an expired session: %v", err)
	}
	must(t, s.Prune(t.Context(), start))
	now = start
	if _, err := s.Session(t.Context(), want.Hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("a pruned session: %v", err)
	}
	// What is gone does not come back.
	want.Expires = start.Add(seconds(999))
	must(t, s.UseSession(t.Context(), want))
	must(t, s.EndSession(t.Context(), want.Hash))
	if _, err := s.Session(t.Context(), want.Hash); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// TestSessionsOfOneUserAreBounded: the oldest go, and no other user's.
func TestSessionsOfOneUserAreBounded(t *testing.T) {
	s := fresh(t)
	must(t, s.AddSession(t.Context(), session(1000, "bob", start.Add(-time.Second))))
	for i := range sessionsPerUser + 3 {
		must(t, s.AddSession(t.Context(), session(i, "ana", start.Add(time.Duration(i)*time.Millisecond))))
	}
	for i := range sessionsPerUser + 3 {
		if _, err := s.Session(t.Context(), session(i, "", start).Hash); (err == nil) != (i >= 3) {
			t.Errorf("session %d: %v", i, err)
		}
	}
	if _, err := s.Session(t.Context(), session(1000, "", start).Hash); err != nil {
		t.Errorf("that of another user: %v", err)
	}
	// Of several of the same moment the one that was made just now stays.
	for i := range sessionsPerUser + 5 {
		must(t, s.AddSession(t.Context(), session(2000+i, "eve", start)))
		if _, err := s.Session(t.Context(), session(2000+i, "", start).Hash); err != nil {
			t.Errorf("session %d ended at once: %v", i, err)
		}
	}
}

func TestSessionsAreListed(t *testing.T) {
	s := fresh(t)
	old, used := session(1, "ana", start), session(2, "bob", start.Add(-time.Minute))
	used.Expires, used.Used, old.Used = start.Add(time.Hour), start.Add(seconds(2)), start.Add(seconds(1))
	over := session(3, "eve", start.Add(-time.Hour))
	for _, one := range []Session{old, used, over} {
		must(t, s.AddSession(t.Context(), one))
	}
	all, err := s.Sessions(t.Context())
	if err != nil || len(all) != 2 || all[0].User != "bob" || all[1].User != "ana" ||
		!bytes.Equal(all[0].Hash, used.Hash) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestTokensAreAddedAndRevoked(t *testing.T) {
	s := fresh(t)
	add := func(name string, expires time.Time) Token {
		made, err := s.AddToken(t.Context(), Token{
			Name: name, Hash: []byte("hash of " + name), Scope: "read", Creator: "ana", Created: start, Expires: expires,
		})
		must(t, err)
		return made
	}
	first, second := add("first", time.Time{}), add("second", start.Add(time.Hour))
	must(t, s.UseToken(t.Context(), first.ID, start.Add(time.Minute)))
	twice(t, s, func(s *Store) {
		all, err := s.Tokens(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != "second" || all[1].Name != "first" ||
			!all[1].Used.Equal(start.Add(time.Minute)) ||
			!all[1].Expires.IsZero() || !all[0].Used.IsZero() || !all[0].Expires.Equal(start.Add(time.Hour)) ||
			all[0].Creator != "ana" {
			t.Errorf("%+v, %v", all, err)
		}
		got, err := s.Token(t.Context(), first.Hash)
		if err != nil || got.ID != first.ID || got.Scope != "read" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	s = again(t, s)
	for what, wrong := range map[string]Token{
		"the same hash": {Name: "x", Hash: first.Hash, Scope: "read"},
		"another scope": {Name: "x", Hash: []byte("y"), Scope: "manage"},
	} {
		if _, err := s.AddToken(t.Context(), wrong); err == nil {
			t.Errorf("%s was stored", what)
		}
	}
	gone, err := s.RemoveToken(t.Context(), second.ID)
	if err != nil || gone.Name != "second" {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, err := s.RemoveToken(t.Context(), second.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if _, err := s.Token(t.Context(), second.Hash); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if third := add("third", start.Add(time.Minute)); third.ID <= second.ID {
		t.Errorf("the number %d is given out twice", third.ID)
	}
	must(t, s.Prune(t.Context(), start.Add(time.Minute)))
	if all, err := s.Tokens(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	must(t, s.Prune(t.Context(), start.Add(time.Hour))) // long expired
	if all, err := s.Tokens(t.Context()); err != nil || len(all) != 1 || all[0].Name != "first" {
		t.Errorf("%+v, %v", all, err)
	}
}
