package install_test

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// undated signs a release as minisign does by itself: nothing but its content.
func undated(t *testing.T, path string, private minisign.PrivateKey) string {
	return stamp(t, path, "timestamp:1795000000\tfile:lamp\thashed", private)
}

// stamp signs a file with a trusted comment.
func stamp(t *testing.T, path, comment string, private minisign.PrivateKey) string {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	r := minisign.NewReader(file)
	_, err = io.Copy(io.Discard, r)
	must(t, err)
	must(t, os.WriteFile(path+".minisig", r.SignWithComments(private, comment, ""), 0o644))
	return path
}

// TestVersionsDoNotGoBack: what is signed as the same or an older version, as another plugin, or as
// nothing, does not replace what is installed.
func TestVersionsDoNotGoBack(t *testing.T) {
	public, ours, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	key, err := artifact.ParseKey(public.String())
	must(t, err)
	dir := t.TempDir()
	f := open(t, dir)
	signed := func(path string, change ...func(*install.Request)) install.Request {
		r := request(path)
		r.Want.Key = key
		for _, c := range change {
			c(&r)
		}
		return r
	}
	named := func(name string) func(*install.Request) { return func(r *install.Request) { r.Want.Name = name } }
	renamed := func(r *install.Request) { r.Renamed = true }
	downgrade := func(r *install.Request) { r.Downgrade = true }
	again := release(t, "lamp", "2.0.0", &ours)
	put(t, f, signed(again))
	rebuilt := release(t, "lamp", "2.0.0", &ours)
	must(t, os.WriteFile(rebuilt, []byte("#!/bin/sh\n# built again\n"), 0o755))
	for _, test := range []struct {
		what    string
		request install.Request
		says    string // "" where it is accepted
	}{
		{"an older one", signed(release(t, "lamp", "1.0.0", &ours)),
			"its version 1.0.0 is not newer than 2.0.0, which is installed: to go back, run dogwatch plugin rollback lamp"},
		{"an older one that is meant", signed(release(t, "lamp", "1.0.0", &ours), downgrade), ""},
		{"the same file", signed(again), ""},
		{"a prerelease of it", signed(release(t, "lamp", "2.0.0-rc.1", &ours)), "is not newer"},
		{"another file of the same version", signed(stamp(t, rebuilt, "dogwatch-plugin lamp 2.0.0 ", ours)), "is not newer"},
		{"no version", signed(undated(t, release(t, "lamp", "3.0.0", nil), ours)), "does not say which version it is"},
		{"no version, and is meant", signed(undated(t, release(t, "lamp", "3.0.0", nil), ours), downgrade), ""},
		{"nothing to compare", signed(release(t, "lamp", "nightly", &ours)), "cannot be told"},
		{"another plugin", signed(release(t, "other", "9.0.0", &ours), named("lamp")),
			"it is signed as the plugin other, and wanted is lamp"},
		{"another plugin that is meant", signed(release(t, "other", "9.0.0", &ours), named("lamp"), renamed), ""},
		{"a newer one", signed(release(t, "lamp", "10.0.0", &ours)), ""},
		{"a new plugin, under another name", signed(release(t, "other", "9.0.0", &ours), named("third")), "wanted is third"},
		{"the first of its name, without a version", signed(undated(t, release(t, "third", "1.0.0", nil), ours)), ""},
	} {
		s, err := stage(t.Context(), f, test.request)
		switch {
		case test.says == "" && err != nil, test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: %v, want %q", test.what, err, test.says)
		case err == nil && s.Name == "":
			t.Errorf("%s: %+v", test.what, s)
		}
	}
}

// TestRenamedPluginIsUpdated: what a user has given another name is updated under it, by
// what its publisher calls the plugin.
func TestRenamedPluginIsUpdated(t *testing.T) {
	public, ours, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	key, err := artifact.ParseKey(public.String())
	must(t, err)
	f := open(t, t.TempDir())
	r := request(release(t, "lamp", "1.0.0", &ours))
	r.Want, r.Renamed = artifact.Want{Name: "mine", Key: key}, true
	put(t, f, r)
	r = request(release(t, "lamp", "2.0.0", &ours))
	r.Want.Name = "mine"
	if s := put(t, f, r); s.Name != "mine" || s.Before.Title != "lamp" {
		t.Errorf("%+v", s)
	}
	r = request(release(t, "mine", "3.0.0", &ours)) // which is another plugin
	r.Want.Name = "mine"
	_, err = stage(t.Context(), f, r)
	if err == nil || !strings.Contains(err.Error(), "it is signed as the plugin mine, and wanted is lamp") {
		t.Errorf("another plugin: %v", err)
	}
}

// TestEnsureGoesBackToTheVersionThatIsConfigured: who writes the configuration names the version.
func TestEnsureGoesBackToTheVersionThatIsConfigured(t *testing.T) {
	public, ours, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	f := open(t, t.TempDir())
	fetcher := artifact.Fetcher{Platform: artifact.Here()}
	for _, version := range []string{"2.0.0", "1.0.0"} {
		w := install.Wanted{Name: "lamp", Ref: release(t, "lamp", version, &ours), Key: public.String()}
		if _, changed, err := f.Ensure(t.Context(), fetcher, w, anyType); err != nil || !changed {
			t.Errorf("%s: %t, %v", version, changed, err)
		}
	}
	other := release(t, "other", "1.0.0", &ours)
	w := install.Wanted{Name: "lamp", Ref: other, Key: public.String()}
	_, _, err = f.Ensure(t.Context(), fetcher, w, anyType)
	if err == nil || !strings.Contains(err.Error(), "signed as the plugin "+filepath.Base(other)) {
		t.Errorf("another plugin of the same publisher: %v", err)
	}
}
