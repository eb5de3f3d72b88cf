package service

import (
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// noProblems is of parts that have none.
type noProblems struct {
	Components
	Installs
}

func (noProblems) Problems() []config.Problem { return nil }

// ruleProblems is of rules that cannot be read.
type ruleProblems struct {
	Policies
	found []config.Problem
}

func (r ruleProblems) Problems(time.Time) []config.Problem { return r.found }

func TestAboutNamesProblemsOfRulesAndLogins(t *testing.T) {
	rule := config.Problem{Key: "policy.minage", Message: `"banana" is no duration`}
	conf := config.Config{Problems: []config.Problem{rule}, Auth: []config.Component{{
		Type: "basic", Name: "main", Options: map[string]config.Value{"user": {V: "ana"}},
	}}}
	s := New(Options{
		Config: func() *config.Config { return &conf }, Components: noProblems{}, Installs: noProblems{},
		Auth:     auth.New(auth.Options{Config: &conf, Log: hclog.NewNullLogger(), Now: time.Now}),
		Policies: ruleProblems{found: []config.Problem{rule, {Key: "policy.window", Message: "never opens"}}},
		Redact:   func(text string) string { return text }, Log: hclog.NewNullLogger(), Now: time.Now,
	})
	want := []string{`policy.minage: "banana" is no duration`, s.opt.Auth.Problems()[0].String(), "policy.window: never opens"}
	if got := s.About().Problems; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWritten(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{{"a", "a"}, {[]string{"a", "b"}, "a,b"}, {true, "true"}, {int64(5), "5"}, {map[string]any{}, ""}} {
		if got := written(c.value); got != c.want {
			t.Errorf("%v: got %q", c.value, got)
		}
	}
}
