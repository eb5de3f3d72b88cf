package gallery_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/gallery"
)

// TestIndexIsCurrent: what is built in has the plugins of docs/plugins/gallery.yaml, with the references of a release.
func TestIndexIsCurrent(t *testing.T) {
	plugins, err := gallery.Read(root+"/docs/plugins/gallery.yaml", root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gallery.NewIndex("", plugins).Text()
	if err != nil {
		t.Fatal(err)
	}
	if built, err := os.ReadFile("index.json"); err != nil || string(built) != string(text) {
		t.Errorf("index.json is not current: run go generate ./cmd/dogwatch (%v)", err)
	}
	for version, want := range map[string]string{
		"1.2.3": ":1.2.3", "1.3.0-rc.1": ":1.3.0-rc.1", "dev": "", "1.2.4-snapshot.abc": "",
	} {
		x, err := gallery.BuiltIn(version)
		if err != nil || len(x.Plugins) != len(plugins) {
			t.Fatalf("%d plugins are built in, want %d (%v)", len(x.Plugins), len(plugins), err)
		}
		for _, p := range x.Plugins {
			if got := x.Reference(p); got != "ghcr.io/dogwatch/"+p.Name+want {
				t.Errorf("%s of version %s is %s", p.Name, version, got)
			}
		}
	}
}

func TestSearchFindsAllWords(t *testing.T) {
	x, err := gallery.BuiltIn("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"": "all", "SYSTEMD": "trigger-systemd", "trigger.file": "trigger-file", "line file": "trigger-file", "nosuchword": "",
	} {
		var names []string
		for _, p := range x.Search(strings.Fields(words)...) {
			names = append(names, p.Name)
		}
		switch {
		case want == "all" && len(names) != len(x.Plugins), want == "" && len(names) > 0,
			want != "" && want != "all" && !slices.Contains(names, want):
			t.Errorf("%q finds %q, want %s", words, names, want)
		}
	}
}

// entry is a reference of an index that somebody else wrote.
const entry = `{"name": %q, "kind": "trigger", "type": "lamp", "does": %q, "license": "MIT", "source": "https://git.example.org/lamp",
	"install": %q, "sdk": "2.0.0", "of a later version": true}`

// TestStrangersIndexIsText: what is not as it should be is left out, and no name that is built in leads elsewhere.
func TestStrangersIndexIsText(t *testing.T) {
	good := fmt.Sprintf(entry, "lamp", "lights a lamp", "ghcr.io/ana/lamp:1")
	for what, bad := range map[string]string{
		"a terminal": fmt.Sprintf(entry, "bell", "rings\u202e", "ghcr.io/ana/bell:1"),
		"a file":     fmt.Sprintf(entry, "bell", "rings", "/bin/sh"),
		"an option":  fmt.Sprintf(entry, "--yes", "rings", "ghcr.io/ana/bell:1"),
		"a path":     fmt.Sprintf(entry, "../bell", "rings", "ghcr.io/ana/bell:1"),
		"a later kind": strings.Replace(fmt.Sprintf(entry, "bell", "rings", "ghcr.io/ana/bell:1"), `"trigger"`,
			`"scanner"`, 1),
		"a folder": strings.Replace(fmt.Sprintf(entry, "bell", "rings", "ghcr.io/ana/bell:1"),
			"https://git.example.org/lamp", "examples/bell", 1),
	} {
		x, err := gallery.Parse([]byte(`{"version": "1.2.3", "plugins": [` + bad + "," + good + "]}"))
		if err != nil || len(x.Plugins) != 1 || x.Plugins[0].Name != "lamp" {
			t.Errorf("%s: got %v, %v", what, x.Plugins, err)
		}
	}
	for what, text := range map[string]string{
		"no JSON": "<html>", "a version with a path": `{"version": "1.2.3/../x", "plugins": []}`,
		"too many": `{"plugins": [` + strings.Repeat("{},", 1000) + "{}]}",
	} {
		if x, err := gallery.Parse([]byte(text)); err == nil {
			t.Errorf("%s is read: %v", what, x)
		}
	}
	own, err := gallery.BuiltIn("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	x, err := gallery.Parse([]byte(`{"plugins": [` + good + "," +
		fmt.Sprintf(entry, "trigger-file", "steals", "ghcr.io/eve/trigger-file:9") + "]}"))
	if err != nil || len(x.Plugins) != 2 {
		t.Fatal(x, err)
	}
	x, err = x.Over(own)
	if err == nil || !strings.Contains(err.Error(), "trigger-file") || len(x.Plugins) != 1 {
		t.Errorf("got %v, %v", x.Plugins, err)
	}
}

func TestRepositoryIsWithoutTag(t *testing.T) {
	for reference, want := range map[string]string{
		"ghcr.io/me/lamp:1.0": "ghcr.io/me/lamp", "localhost:5000/me/lamp": "localhost:5000/me/lamp", "": "",
		"localhost:5000/me/lamp:1@sha256:ab": "localhost:5000/me/lamp",
	} {
		if got := gallery.Repository(reference); got != want {
			t.Errorf("%s is of %q, want %q", reference, got, want)
		}
	}
}

// TestNewestIsAskedSeldom: what was read counts for a minute, then an answer that nothing has changed; a failure is
// remembered as long, and what is too large or no https:// address is none.
func TestNewestIsAskedSeldom(t *testing.T) {
	requests, status, body := 0, http.StatusOK, `{"version": "1.2.3", "plugins": []}`
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == `"one"` {
			status = http.StatusNotModified
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	newest := func(address string) *gallery.Newest {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		n, err := gallery.NewNewest(u, "dogwatch/1.2.3", func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Trust(authority); err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := newest(server.URL)
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			now = now.Add(2 * time.Minute)
		}
		x, err := n.Read(t.Context())
		if err != nil || x.Version != "1.2.3" || requests != want {
			t.Errorf("read %d: %v, %v after %d requests, want %d", i, x, err, requests, want)
		}
	}
	if status != http.StatusNotModified {
		t.Error("the second request was not conditional")
	}
	for what, c := range map[string]struct {
		status        int
		address, body string
	}{
		"missing":     {http.StatusNotFound, server.URL, ""},
		"too large":   {http.StatusOK, server.URL, strings.Repeat(" ", 2<<20)},
		"unencrypted": {http.StatusOK, "http://127.0.0.1:1/", ""},
	} {
		requests, status, body = 0, c.status, c.body
		n := newest(c.address)
		for range 2 {
			if _, err := n.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "plugins.gallery") {
				t.Errorf("%s: got %v", what, err)
			}
		}
		if requests > 1 {
			t.Errorf("%s: %d requests", what, requests)
		}
	}
}
