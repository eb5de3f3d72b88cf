package plugin

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
)

// TestChecksumIsOfWhatIsInTheFile: a file that is as it was is not read again, and one that passes for
// it, with its size, its time and its place, is.
func TestChecksumIsOfWhatIsInTheFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("files are read each time here")
	}
	path := filepath.Join(t.TempDir(), "plugin")
	must(t, os.WriteFile(path, []byte("one"), 0o755))
	h := &Host{}
	_, err := h.checksums.sum(path)
	must(t, err)
	if now, _ := look(path); h.checksums.known(path, now) != nil {
		t.Error("a file is remembered that can change without another time")
	}
	eventually(t, "a change will show", func() bool { _, settled := look(path); return settled })
	one, err := h.checksums.sum(path)
	must(t, err)
	before, err := os.Stat(path)
	must(t, err)
	if now, _ := look(path); !bytes.Equal(h.checksums.known(path, now), one) {
		t.Error("a file that is as it was is read again")
	}
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(copied, []byte("one"), 0o755))
	must(t, h.checkSum(bundle{path: path, checksum: one}, copied))

	must(t, os.WriteFile(path, []byte("two"), 0o755)) // in place
	must(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	must(t, os.WriteFile(copied, []byte("two"), 0o755))
	if err := h.checkSum(bundle{path: path, checksum: one}, copied); !errors.Is(err, goplugin.ErrChecksumsDoNotMatch) {
		t.Errorf("what is started is another file: %v", err)
	}
	two, err := h.checksums.sum(path)
	must(t, err)
	if want, err := Checksum(path); err != nil || !bytes.Equal(two, want) {
		t.Errorf("the checksum is %x, want %x (%v)", two, want, err)
	}
	eventually(t, "a change will show", func() bool { _, settled := look(path); return settled })
	if two, err = h.checksums.sum(path); err != nil || bytes.Equal(two, one) {
		t.Errorf("the checksum is the one from before: %v", err)
	}
}
