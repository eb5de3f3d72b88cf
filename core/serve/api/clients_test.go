package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

// The tests named after clients send what that program sends and read what it
// reads: the files clients_*_test.go have one family each. What several of them
// need together is in rules_test.go.

func failing(message string) func(context.Context) error {
	return func(context.Context) error { return fmt.Errorf("%s", message) }
}

// gone is a check that finds that the engine lists the container no more.
func gone(w *testServer, c sdk.Container) error {
	if err := w.store.Commit(context.Background(), event.Change{Remove: []string{c.ID}}); err != nil {
		return err
	}
	return check.ErrNotListed
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// client is one program: the server as it sees it, with what it always sends.
type client struct {
	*testServer
	headers []string
}

// as returns a client that sends these headers and has a timeout.
func (w *testServer) as(timeout time.Duration, headers ...string) client {
	w.client.Timeout = timeout
	return client{w, headers}
}

func (c client) do(method, path, body string) response {
	c.t.Helper()
	return c.testServer.do(method, path, body, c.headers...)
}

func (c client) get(path string) response { c.t.Helper(); return c.do("GET", path, "") }

// reads are the fields that a client takes from an object, by path, and what
// it takes them for: "string", "boolean", "number", "object", "list". With a
// question mark it copes with an absent field; null it copes with nowhere.
type reads map[string]string

// from fails for every field that would confuse the client.
func (r reads) from(t testing.TB, who string, doc map[string]any) {
	t.Helper()
	for path, form := range r {
		want, optional := strings.CutSuffix(form, "?")
		if got := formOf(doc, path); got != want && !(optional && got == "absent") {
			t.Errorf("%s reads %s of %v: %s, want %s", who, path, doc["name"], got, form)
		}
	}
}

// formOf says what is at a path. The keys of labels have dots and are written in brackets.
func formOf(doc map[string]any, path string) string {
	var value any = doc
	path, key, labelled := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	names := strings.Split(path, ".")
	if labelled {
		names = append(names, key)
	}
	for _, name := range names {
		parent, is := value.(map[string]any)
		if !is {
			return "null" // the client would look into what is no object
		}
		var present bool
		if value, present = parent[name]; !present {
			return "absent"
		}
	}
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "list"
	}
	return "object"
}

// label returns a label of a container, "" when it has none.
func label(c map[string]any, name string) string {
	labels, _ := c["labels"].(map[string]any)
	text, _ := labels[name].(string)
	return text
}

// varied are containers in every state that there is: an update by tag, one by
// digest, none, a check that failed, and no check yet.
func varied() []sdk.Container {
	digest := nginx()
	digest.ID, digest.Name, digest.DisplayName = strings.Repeat("d", 64), "cache", "cache"
	digest.Image.Tag, digest.LinkTemplate, digest.Link = sdk.Tag{Value: "latest"}, "", ""
	digest.Result = &sdk.Result{Tag: "latest", Digest: "sha256:9f"}
	digest.UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: "sha256:3e2b8c", RemoteValue: "sha256:9f"}
	current := nginx()
	current.ID, current.Name, current.DisplayName = strings.Repeat("e", 64), "proxy", "proxy"
	current.Result = &sdk.Result{Tag: current.Image.Tag.Value, Link: current.Link}
	current.UpdateAvailable, current.UpdateKind = false, sdk.UpdateKind{Kind: sdk.KindUnknown}
	fresh := sdk.Container{ID: strings.Repeat("f", 64), Name: "fresh", Watcher: "local", Status: "created",
		Check: sdk.CheckState{State: sdk.CheckNever},
		Image: sdk.Image{
			ID:       "sha256:aa",
			Registry: sdk.Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name:     "library/alpine", Tag: sdk.Tag{Value: "3"}, Architecture: "amd64", OS: "linux",
		}}
	return []sdk.Container{nginx(), digest, current, redis(), fresh}
}

// variedNames are their names in the order of the list: by watcher, then by name.
var variedNames = []string{"cache", "fresh", "nginx", "proxy", "redis"}

func byName(t testing.TB, list []map[string]any, name string) map[string]any {
	t.Helper()
	i := slices.IndexFunc(list, func(c map[string]any) bool { return c["name"] == name })
	if i < 0 {
		t.Fatalf("there is no %s in %v", name, list)
	}
	return list[i]
}

// TestStrictReaderRejectsWrongTypes: the strict reader is worth something.
func TestStrictReaderRejectsWrongTypes(t *testing.T) {
	doc := map[string]any{
		"a": "x", "n": nil, "o": map[string]any{"b": true, "n": nil, "l": []any{}, "f": 1.5},
		"labels": map[string]any{"x.y": "z"},
	}
	for path, want := range map[string]string{"a": "string", "b": "absent", "n": "null", "n.x": "null", "a.x": "null",
		"o": "object", "o.b": "boolean", "o.c": "absent",
		"o.n": "null", "o.l": "list", "o.f": "number", "labels[x.y]": "string", "labels[x]": "absent"} {
		if got := formOf(doc, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
