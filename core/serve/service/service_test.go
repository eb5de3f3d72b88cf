package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/notify/testrun"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/core/watch/labels"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// fakeParts are the parts of an installation, and count what is done with them.
type fakeParts struct {
	Components
	Plugins
	done []string
	// requests are those of test runs.
	requests []testrun.Request
	// result and failure are what test runs return.
	result  testrun.Result
	failure error
}

func (f *fakeParts) do(what string) error {
	f.done = append(f.done, what)
	return f.failure
}

func (f *fakeParts) Get(k kind.Kind, typ, name string) (*component.Component, bool) {
	return &component.Component{Kind: k, Type: typ, Name: name}, name != "missing"
}

func (f *fakeParts) Bundles() []plugin.Status { return nil }

func (f *fakeParts) WatchAll(context.Context) error                { return f.do("check all") }
func (f *fakeParts) WatchOne(context.Context, sdk.Container) error { return f.do("check one") }
func (f *fakeParts) Next(string) time.Time                         { return time.Time{} }
func (f *fakeParts) Progress() []check.Progress                    { return nil }
func (f *fakeParts) Budgets() []budget.Forecast                    { return nil }
func (f *fakeParts) Concurrency() map[string]int                   { return nil }

func (f *fakeParts) Explain(context.Context, sdk.Container) check.Explanation {
	return check.Explanation{
		Name: secret, Error: secret, Summary: phrase.Texts(phrase.Verbatim(secret)),
		Warnings: phrase.Texts(phrase.New("%s", secret)),
		Rules:    []labels.Rule{{Name: "tag.include", Value: secret}},
		Tags:     []check.Verdict{{Tag: secret}},
	}
}

func (f *fakeParts) RunNow(context.Context, string, []sdk.Container, dispatch.ManualRun) error {
	return f.do("run")
}
func (f *fakeParts) Wake()                                 {}
func (f *fakeParts) DeliveryProgress() []dispatch.Progress { return nil }

func (f *fakeParts) Run(_ context.Context, _ *component.Component, req testrun.Request) (testrun.Result, error) {
	f.requests = append(f.requests, req)
	return f.result, f.do("test")
}

func (f *fakeParts) Preview(context.Context, *component.Trigger) (testrun.Result, error) {
	return f.result, f.failure
}

func withParts(parts *fakeParts) func(*Options) {
	return func(o *Options) {
		o.Components, o.Plugins, o.Checks, o.Triggers, o.TestRuns = parts, parts, parts, parts, parts
		c := &config.Config{}
		c.Server.Feature.Delete = true
		o.Config = func() *config.Config { return c }
	}
}

// TestServiceRequiresScopes: what an actor may not do is an ErrForbidden, and is not done.
func TestServiceRequiresScopes(t *testing.T) {
	parts := &fakeParts{}
	s, stored := newService(t, withParts(parts))
	c := sdk.Container{ID: "c1", Name: "web", Watcher: "local"}
	if err := stored.Commit(t.Context(), event.Change{Put: []sdk.Container{c}}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		scope auth.Scope
		do    func(context.Context, auth.Actor) error
	}{
		"check all": {auth.Write, s.CheckAll},
		"check one": {auth.Write, func(ctx context.Context, a auth.Actor) error { return s.CheckOne(ctx, a, c) }},
		"delete": {auth.Write, func(ctx context.Context, a auth.Actor) error {
			return s.DeleteContainer(ctx, a, "c1")
		}},
		"retry": {auth.Write, func(ctx context.Context, a auth.Actor) error { return s.RetryDelivery(ctx, a, 1) }},
		"set log level": {auth.Write, func(ctx context.Context, a auth.Actor) error {
			return s.SetLogLevel(ctx, a, "debug")
		}},
		"test": {auth.Write, func(ctx context.Context, a auth.Actor) error {
			_, err := s.Test(ctx, a, kind.Trigger, "smtp", "main", "")
			return err
		}},
		"run": {auth.Write, func(ctx context.Context, a auth.Actor) error {
			return s.RunTrigger(ctx, a, "smtp", "main", []sdk.Container{c}, false)
		}},
		"see tokens": {auth.Manage, func(ctx context.Context, a auth.Actor) error {
			_, err := s.Tokens(ctx, a)
			return err
		}},
		"revoke links": {auth.Write, func(ctx context.Context, a auth.Actor) error {
			return s.RevokeSignedLinks(ctx, a, "")
		}},
		"revoke token": {auth.Manage, func(ctx context.Context, a auth.Actor) error {
			return s.RevokeToken(ctx, a, 1)
		}},
		"see sessions": {auth.Manage, func(ctx context.Context, a auth.Actor) error {
			_, err := s.Sessions(ctx, a)
			return err
		}},
		"end session": {auth.Manage, func(ctx context.Context, a auth.Actor) error {
			return s.EndSession(ctx, a, "x")
		}},
		"end other sessions": {auth.Manage, s.EndOtherSessions},
		"create token": {auth.Manage, func(ctx context.Context, a auth.Actor) error {
			_, _, err := s.CreateToken(ctx, a, "ci", "read", time.Time{})
			return err
		}},
	} {
		for _, actor := range []auth.Actor{unknown, reader, writer} {
			if actor.Scope >= test.scope {
				continue
			}
			if err := test.do(t.Context(), actor); !errors.Is(err, ErrForbidden) {
				t.Errorf("%s with the scope %s: %v", name, actor.Scope, err)
			}
			if len(parts.done) > 0 {
				t.Errorf("%s with the scope %s was done", name, actor.Scope)
			}
		}
	}
	if _, found := s.Containers().Get("c1"); !found || s.LogLevel() == "debug" {
		t.Error("an actor that may not has changed something")
	}
	if err := errors.Join(s.CheckAll(t.Context(), writer), s.DeleteContainer(t.Context(), writer, "C1")); err != nil {
		t.Errorf("of a writer: %v", err)
	}
	if _, found := s.Containers().Get("c1"); found {
		t.Error("the container is still there")
	}
}

func TestUnknownThingsAreNotFound(t *testing.T) {
	s, _ := newService(t, withParts(&fakeParts{}))
	ctx := t.Context()
	_, test := s.Test(ctx, loggedIn, kind.Trigger, "smtp", "missing", "")
	_, restart := s.RestartPlugin(loggedIn, "missing")
	_, trust := s.TrustPlugin(ctx, reader, "missing", "")
	_, container := s.Container("missing")
	for name, err := range map[string]error{
		"test": test, "restart": restart, "trust": trust, "container": container,
		"run":    s.RunTrigger(ctx, loggedIn, "smtp", "missing", nil, false),
		"delete": s.DeleteContainer(ctx, loggedIn, "missing"),
		"token":  s.RevokeToken(ctx, loggedIn, 77), "session": s.EndSession(ctx, loggedIn, "missing"),
	} {
		if !errors.Is(err, ErrNotFound) || errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTestRunsAnyHostForOperators: a token has no registry contact hosts that nothing here uses.
func TestTestRunsAnyHostForOperators(t *testing.T) {
	parts := &fakeParts{}
	s, _ := newService(t, withParts(parts))
	for _, actor := range []auth.Actor{writer, loggedIn} {
		if _, err := s.Test(t.Context(), actor, kind.Registry, "hub", "public", "ghcr.io/a/b"); err != nil {
			t.Error(err)
		}
	}
	if len(parts.requests) != 2 || parts.requests[0].AnyHost || !parts.requests[1].AnyHost ||
		parts.requests[0].Image != "ghcr.io/a/b" {
		t.Errorf("requests: %+v", parts.requests)
	}
}

func TestTestResultsAreRedacted(t *testing.T) {
	parts := &fakeParts{
		failure: errors.Join(testrun.ErrHost, errors.New(secret)),
		result:  testrun.Result{Title: secret, Body: secret, Response: secret, Warnings: []string{secret}},
	}
	s, _ := newService(t, withParts(parts))
	result, err := s.Test(t.Context(), writer, kind.Registry, "hub", "public", "")
	if !errors.Is(err, testrun.ErrHost) || strings.Contains(err.Error(), secret) {
		t.Errorf("the error is %v", err)
	}
	if got := result.Title + result.Body + result.Response + result.Warnings[0]; got != "************" {
		t.Errorf("the result is %q", got)
	}
	if parts.result.Warnings[0] != secret {
		t.Error("the warnings of the runner were changed")
	}
}

func TestExplainRedactsTextsAndKeepsNames(t *testing.T) {
	s, _ := newService(t, withParts(&fakeParts{}))
	why := s.Explain(t.Context(), sdk.Container{})
	if got := why.Error + why.Summary[0].String() + why.Warnings[0].String() + why.Rules[0].Value; got != "************" {
		t.Errorf("the texts are %q", got)
	}
	if why.Name != secret || why.Tags[0].Tag != secret {
		t.Error("names are torn")
	}
}

func TestTokensHaveNoHashes(t *testing.T) {
	s, stored := newService(t, nil)
	token, made, err := s.CreateToken(t.Context(), loggedIn, "ci", "write", time.Time{})
	if err != nil || !auth.IsToken(token) || made.Creator != "ana" || made.Scope != "write" || made.Hash != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	all, err := s.Tokens(t.Context(), loggedIn)
	if err != nil || len(all) != 1 || all[0].Hash != nil || all[0].Name != "ci" {
		t.Errorf("%+v, %v", all, err)
	}
	kept, err := stored.Tokens(t.Context())
	if err != nil || len(kept) != 1 || kept[0].Hash == nil {
		t.Errorf("stored are %+v, %v", kept, err)
	}
	if err := s.RevokeToken(t.Context(), loggedIn, made.ID); err != nil {
		t.Error(err)
	}
}
