package store

import (
	"errors"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
)

func TestAgentsJoinOnce(t *testing.T) {
	at := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return at } })
	must(t, s.AddAgentToken(t.Context(), agent.Wanted{
		ID: "one", Hash: []byte("secret"), Creator: "ana", Expires: start.Add(10 * time.Minute),
	}))
	must(t, s.AddAgentToken(t.Context(), agent.Wanted{
		ID: "named", Hash: []byte("secret"), Name: "nas", Expires: start.Add(10 * time.Minute),
	}))
	must(t, s.AddAgentToken(t.Context(), agent.Wanted{
		ID: "late", Hash: []byte("secret"), Expires: start.Add(20 * time.Minute),
	}))
	nas, pi := []byte("key of nas"), []byte("key of pi")
	for _, c := range []struct {
		what, token, secret, name string
		key                       []byte
		after                     time.Duration
		want                      error
		called                    string
	}{
		{"no such token", "two", "secret", "nas", nas, 0, agent.ErrTokenUnknown, ""},
		{"a guess", "one", "secreT", "nas", nas, 0, agent.ErrTokenUnknown, ""},
		{"no name", "one", "secret", "", nas, 0, agent.ErrNameTaken, ""},
		{"the first", "one", "secret", "nas", nas, time.Minute, nil, "nas"},
		{"the first again, as its answer was lost", "one", "secret", "nas", nas, 2 * time.Minute, nil, "nas"},
		{"a thief", "one", "secret", "pi", pi, 2 * time.Minute, agent.ErrTokenUsed, ""},
		{"a name that is taken", "late", "secret", "nas", pi, 2 * time.Minute, agent.ErrNameTaken, ""},
		{"a name that the token has", "named", "secret", "pi", pi, 3 * time.Minute, nil, "nas"},
		{"too late", "late", "secret", "pi2", []byte("key of pi2"), 20 * time.Minute, agent.ErrTokenExpired, ""},
		{"too late for itself", "one", "secret", "nas", nas, 20 * time.Minute, agent.ErrTokenExpired, ""},
	} {
		at = start.Add(c.after)
		a, err := s.JoinAgent(t.Context(), c.token, []byte(c.secret), agent.Agent{Name: c.name, Key: c.key, Joined: at})
		if !errors.Is(err, c.want) || err == nil && a.Name != c.called {
			t.Errorf("%s: %+v, %v, want %v", c.what, a, err, c.want)
		}
	}
	must(t, s.SeenAgent(t.Context(), pi, "1.2.3", start.Add(time.Hour)))
	s = again(t, s)
	all, err := s.Agents(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "nas" || string(all[0].Key) != string(pi) ||
		all[0].Version != "1.2.3" || !all[0].Seen.Equal(start.Add(time.Hour)) ||
		!all[0].Joined.Equal(start.Add(3*time.Minute)) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAgentsAreRenamedAndRemoved(t *testing.T) {
	s := fresh(t)
	for _, name := range []string{"a", "b"} {
		must(t, s.AddAgentToken(t.Context(), agent.Wanted{ID: name, Hash: []byte("x"), Expires: start.Add(time.Hour)}))
		_, err := s.JoinAgent(t.Context(), name, []byte("x"), agent.Agent{Name: name, Key: []byte(name)})
		must(t, err)
	}
	if err := s.RenameAgent(t.Context(), "a", "b"); !errors.Is(err, agent.ErrNameTaken) {
		t.Errorf("to the name of another: %v", err)
	}
	for _, err := range []error{s.RenameAgent(t.Context(), "c", "d"), s.RemoveAgent(t.Context(), "c")} {
		if !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("none of that name: %v", err)
		}
	}
	must(t, s.RenameAgent(t.Context(), "a", "c"))
	must(t, s.RemoveAgent(t.Context(), "b"))
	all, err := s.Agents(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "c" || string(all[0].Key) != "a" {
		t.Errorf("%+v, %v", all, err)
	}
}
