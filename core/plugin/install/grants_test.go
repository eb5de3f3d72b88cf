package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"
	"crypto/rand"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// requesting installs a plugin that asks for capabilities and is granted some of them.
func requesting(
	t *testing.T, f *install.Folder, path string, key artifact.Key, capabilities, grants []string,
) *install.Staged {
	t.Helper()
	r := request(path)
	r.Want.Key = key
	s, err := stage(t.Context(), f, r)
	must(t, err)
	s.Types, s.Capabilities = []string{"trigger.lamp"}, capabilities
	s.Grants = append(s.KeptGrants(), grants...)
	must(t, f.Install(s))
	return s
}

func granted(t *testing.T, dir string) string {
	t.Helper()
	all, err := install.Grants(dir)
	must(t, err)
	return strings.Join(all["lamp"], " ")
}

func TestGrantsStayWithThePublisher(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	f := open(t, dir)
	public, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	key, err := artifact.ParseKey(public.String())
	must(t, err)

	requesting(t, f, release(t, "lamp", "1", &private), key, []string{"credentials", "run"},
		[]string{"run", "credentials"})
	if got := granted(t, dir); got != "credentials run" {
		t.Errorf("granted %q", got)
	}
	// The next version asks for one less and one more: it keeps what it asks for still.
	requesting(t, f, release(t, "lamp", "2", &private), key, []string{"credentials", "engine"}, nil)
	if got := granted(t, dir); got != "credentials" {
		t.Errorf("after an update %q", got)
	}
	_, err = f.Rollback("lamp")
	must(t, err)
	if got := granted(t, dir); got != "credentials" {
		t.Errorf("after a rollback, to a version that had more, %q", got)
	}
	// Another publisher begins with nothing.
	otherPublic, other, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	otherKey, err := artifact.ParseKey(otherPublic.String())
	must(t, err)
	r := request(release(t, "lamp", "3", &other))
	r.Want.Key, r.NewKey = otherKey, true
	s, err := stage(t.Context(), f, r)
	must(t, err)
	s.Capabilities = []string{"credentials"}
	if kept := s.KeptGrants(); kept != nil {
		t.Errorf("another publisher keeps %v", kept)
	}
	must(t, f.Remove("lamp"))
	if got := granted(t, dir); got != "" {
		t.Errorf("after it was removed %q", got)
	}
}

// TestGrantsOfUnsignedFiles: who made a file that is not signed is not known.
func TestGrantsOfUnsignedFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	f := open(t, dir)
	requesting(t, f, release(t, "lamp", "1", nil), artifact.Key{}, []string{"run"}, []string{"run"})
	requesting(t, f, release(t, "lamp", "2", nil), artifact.Key{}, []string{"run"}, nil)
	if got := granted(t, dir); got != "" {
		t.Errorf("another file keeps %q", got)
	}
}

func TestGrantAndRevoke(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	f := open(t, dir)
	requesting(t, f, release(t, "lamp", "1", nil), artifact.Key{}, []string{"run"}, nil)
	if err := f.Grant("lamp", []string{"engine"}); err == nil ||
		!strings.Contains(err.Error(), `does not ask for the capability "engine": it asks for run`) {
		t.Errorf("a capability that it does not ask for: %v", err)
	}
	if err := f.Grant("other", []string{"run"}); err == nil || !strings.Contains(err.Error(), "was not installed") {
		t.Errorf("another plugin: %v", err)
	}
	must(t, f.Grant("lamp", []string{"run", "run"}))
	f.Close()
	f = open(t, dir) // which lasts
	if got := f.Installed()[0].Granted; !slices.Equal(got, []string{"run"}) || granted(t, dir) != "run" {
		t.Errorf("granted %v", got)
	}
	must(t, f.Grant("lamp", nil))
	if got := granted(t, dir); got != "" {
		t.Errorf("after it was revoked %q", got)
	}
}

// TestGrantsThatOthersCanWrite count for nothing.
func TestGrantsThatOthersCanWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	f := open(t, dir)
	requesting(t, f, release(t, "lamp", "1", nil), artifact.Key{}, []string{"run"}, []string{"run"})
	must(t, os.Chmod(filepath.Join(dir, ".installed.json"), 0o666))
	if all, err := install.Grants(dir); err == nil || len(all) > 0 {
		t.Errorf("a file that others can write grants %v, %v", all, err)
	}
}
