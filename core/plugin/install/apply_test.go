package install_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// anyType lets plugins hold what they want.
func anyType(string, []string) error { return nil }

func TestEnsure(t *testing.T) {
	public, ours, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	other, _, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	first, second := release(t, "lamp", "1", &ours), release(t, "lamp", "2", nil)
	dir := t.TempDir()
	f := open(t, dir)
	ensure := func(w install.Wanted, installs bool, says, holding string) {
		t.Helper()
		w.Name = "lamp"
		sum, changed, err := f.Ensure(t.Context(), artifact.Fetcher{Platform: artifact.Here()}, w, anyType)
		if changed != installs || (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: changed %t, %v; want %t and %q", w, changed, err, installs, says)
		}
		text, err := os.ReadFile(filepath.Join(dir, "lamp"))
		if holding == "" {
			if err == nil || sum != "" {
				t.Errorf("%+v: there is %q, %s", w, text, sum)
			}
			return
		}
		if string(text) != program(holding) || sum == "" {
			t.Errorf("%+v: lamp holds %q (%s), want version %s", w, text, sum, holding)
		}
	}
	ensure(install.Wanted{Ref: first + ".none"}, false, "cannot be read", "")
	ensure(install.Wanted{Ref: first, Key: "nonsense"}, false, "key: is neither a key", "")
	ensure(install.Wanted{Ref: first, Key: other.String()}, false, "signed by another key", "")
	ensure(install.Wanted{Ref: first, Key: public.String()}, true, "", "1")
	ensure(install.Wanted{Ref: first, Key: public.String()}, false, "", "1")
	ensure(install.Wanted{Ref: first}, false, "", "1")
	ensure(install.Wanted{Ref: second}, false, "it is not signed", "1") // the key is remembered
	ensure(install.Wanted{Ref: first, Digest: "sha256:" + strings.Repeat("0", 64)}, false, "it is another file", "1")
	ensure(install.Wanted{Ref: first, Key: other.String()}, false, "signed by another key", "1")
	must(t, os.WriteFile(filepath.Join(dir, "lamp"), []byte(program("changed")), 0o755))
	ensure(install.Wanted{Ref: first}, true, "", "1")
}
