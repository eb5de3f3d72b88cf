package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func TestConformance(t *testing.T) {
	triggertest.Run(t, atomType(), triggertest.Case{
		Options: func(t *testing.T) map[string]any {
			return map[string]any{"path": filepath.Join(t.TempDir(), "updates.atom")}
		},
		Failing: []triggertest.Failure{{Name: "folder in the way", Kind: sdk.ErrUnavailable,
			Options: func(t *testing.T) map[string]any {
				return map[string]any{"path": t.TempDir()}
			}}},
		Invalid: []triggertest.Invalid{
			{Field: "path", Set: map[string]any{"path": "updates.atom"}},
			{Field: "path", Set: map[string]any{"path": "/no/such/folder/updates.atom"}},
			{Field: "url", Set: map[string]any{"url": "ftp://example.org/updates.atom"}},
		},
		Skip: []string{"cancel"}, // nothing to wait for
	})
}

// feedOf returns the feed in a file, which has what RFC 4287 requires of one (sections 4.1.1 and 4.1.2).
func feedOf(t *testing.T, path string) feed {
	t.Helper()
	f, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.ID == "" || f.Title == "" || f.Author.Name == "" {
		t.Errorf("the feed lacks id, title or author: %+v", f)
	}
	if _, err := time.Parse(time.RFC3339, f.Updated); err != nil {
		t.Error(err)
	}
	ids := map[string]bool{}
	for _, e := range f.Entries {
		if e.ID == "" || ids[e.ID] || e.Title == "" || e.Content.Type != "text" {
			t.Errorf("the entry lacks an id of its own, a title or content: %+v", e)
		}
		ids[e.ID] = true
		if _, err := time.Parse(time.RFC3339, e.Updated); err != nil {
			t.Error(err)
		}
	}
	return f
}

// TestFeedHasUpdates: the newest first, each once however often it is delivered, and no more than are kept.
func TestFeedHasUpdates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "updates.atom")
	run := plugintest.Trigger(t, atomType(), map[string]any{
		"path": path, "keep": "3", "url": "https://www.example.org/updates.atom",
	}).Run
	for _, req := range []trigger.Request{
		triggertest.Request("lost"), triggertest.Request("nginx"), triggertest.Event(), triggertest.Request("redis"),
		triggertest.Request("nginx"),
	} {
		if err := run(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	f := feedOf(t, path)
	var titles []string
	for _, e := range f.Entries {
		titles = append(titles, e.Title)
	}
	want := []string{"nginx: 1.25.3 → 1.27.0", "redis: 1.25.3 → 1.27.0", "watcher.failed: local"}
	if fmt.Sprint(titles) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", titles, want)
	}
	if f.ID != "https://www.example.org/updates.atom" || len(f.Links) != 1 || f.Links[0].Rel != "self" {
		t.Errorf("the feed is %s with %v", f.ID, f.Links)
	}
	first := f.Entries[0]
	if len(first.Links) != 1 || first.Links[0].Href != "https://example.org/nginx/1.27.0" ||
		first.Content.Text != "local/nginx runs docker.io/library/nginx 1.25.3, and 1.27.0 is available." {
		t.Errorf("got %+v", first)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".atom-*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// TestFeedHoldsText: what comes from labels is no markup, a message's links are not in it, and another file is kept.
func TestFeedHoldsText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "updates.atom")
	run := plugintest.Trigger(t, atomType(), map[string]any{"path": path}).Run
	req := triggertest.Request("a<b>&\x1b")
	req.Containers[0].Result.Link = "javascript:alert(1)"
	req.Body = "https://dogwatch.test/decide?sig=s3cret"
	if err := run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "<b>") || strings.Contains(string(text), "javascript") ||
		strings.Contains(string(text), "s3cret") || strings.Contains(string(text), "\x1b") {
		t.Errorf("got %s, %v", text, err)
	}
	if f := feedOf(t, path); len(f.Entries) != 1 {
		t.Errorf("got %+v", f)
	}
	if err := os.WriteFile(path, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), req); err == nil || !strings.Contains(err.Error(), "is no feed") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a letter" {
		t.Errorf("the file is now %q (%v)", text, err)
	}
}
