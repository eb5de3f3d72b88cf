package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func TestConformance(t *testing.T) {
	triggertest.Run(t, auditType(), triggertest.Case{
		Options: func(t *testing.T) map[string]any {
			return map[string]any{"path": filepath.Join(t.TempDir(), "audit.jsonl")}
		},
		Failing: []triggertest.Failure{{Name: "folder in the way", Kind: sdk.ErrUnavailable,
			Options: func(t *testing.T) map[string]any {
				return map[string]any{"path": t.TempDir()}
			}}},
		Invalid: []triggertest.Invalid{
			{Field: "path", Set: map[string]any{"path": "audit.jsonl"}},
			{Field: "path", Set: map[string]any{"path": "/no/such/folder/audit.jsonl"}},
		},
		Skip: []string{"cancel"}, // nothing to wait for
	})
}

// delivery is a delivery with an id of its own.
func delivery(id string, names ...string) trigger.Request {
	req := triggertest.Request(names...)
	req.Delivery = id
	for i := range req.Containers {
		req.Containers[i].ID = "id-" + req.Containers[i].Name
	}
	return req
}

func lines(t *testing.T, path string) []entry {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for line := range strings.Lines(string(text)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			e.What = "cut off"
		}
		all = append(all, e)
	}
	return all
}

// A delivery that is tried again, after a crash in its middle, is written once.
func TestDeliveryIsWrittenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	run := plugintest.Trigger(t, auditType(), map[string]any{"path": path}).Run
	event := triggertest.Event()
	for range 2 {
		for _, req := range []trigger.Request{delivery("1", "web"), delivery("2", "web", "cache"), event} {
			if err := run(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for _, e := range lines(t, path) {
		got = append(got, strings.Join([]string{e.Delivery, e.What, e.Container, e.From, e.To}, " "))
	}
	want := []string{"1 update local/web 1.25.3 1.27.0", "2 update local/web 1.25.3 1.27.0",
		"2 update local/cache 1.25.3 1.27.0", "delivery-2 watcher.failed   "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A crash cut the third line, and what follows, off.
	cut := strings.Index(string(text), `"local/cache"`) + 5
	if err := os.Truncate(path, int64(cut)); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), delivery("2", "web", "cache")); err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, e := range lines(t, path) {
		got = append(got, e.What+" "+e.Container)
	}
	if want := "update local/web,update local/web,cut off ,update local/cache"; strings.Join(got, ",") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n, err := verify([]string{path}); n != 4 || err != nil {
		t.Errorf("verified %d lines, %v", n, err)
	}
}

// The files of a record are one chain, and it shows what was changed or taken out.
func TestRotationKeepsTheChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a := &audit{options: options{Path: path, Keep: 3}, limit: 900, turn: make(chan struct{}, 1)}
	const last = 24
	for i := range last {
		for range 2 { // also of an entry that is the last of an old file
			if err := a.Run(t.Context(), delivery(fmt.Sprint(i), "web")); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := []string{path + ".3", path + ".2", path + ".1", path}
	var all []string
	for _, file := range files {
		for _, e := range lines(t, file) {
			all = append(all, e.Delivery)
		}
	}
	for i, id := range all {
		if want := fmt.Sprint(last - len(all) + i); id != want {
			t.Fatalf("the record has the deliveries %q", all)
		}
	}
	if found, _ := filepath.Glob(path + "*"); len(found) != len(files) {
		t.Errorf("kept %q", found)
	}
	if n, err := verify(files); n != len(all) || err != nil {
		t.Errorf("verified %d lines, %v; want %d", n, err, len(all))
	}
	text, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	for what, changed := range map[string]string{
		"changed": strings.Replace(first, "1.27.0", "1.26.0", 1) + "\n" + rest,
		"removed": rest,
	} {
		if err := os.WriteFile(files[1], []byte(changed), 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := verify(files); err == nil {
			t.Errorf("a line that was %s is not noticed", what)
		}
	}
}

// Titles and bodies may hold links that decide about updates for whom has them.
func TestMessagesAreNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	req := delivery("1", "web")
	req.Body, req.Actions = "https://dogwatch.test/decide?sig=s3cret", []trigger.Action{{
		ContainerID: "id-web", URL: "https://dogwatch.test/decide?sig=s3cret",
	}}
	if err := plugintest.Trigger(t, auditType(), map[string]any{"path": path}).Run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "s3cret") {
		t.Errorf("got %s, %v", text, err)
	}
}
