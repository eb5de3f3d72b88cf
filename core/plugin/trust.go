package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// untrustedError says why an executable may not run.
type untrustedError struct{ reason string }

func (e *untrustedError) Error() string { return e.reason }

func untrusted(format string, args ...any) error {
	return &untrustedError{fmt.Sprintf(format, args...)}
}

// Trust accepts the executable of a third-party bundle that a user has seen, by
// its SHA-256 in hexadecimal, and starts it. It refuses when the file on disk is
// another one by now. The error is an *sdk.InvalidError when seen is no checksum.
func (h *Host) Trust(ctx context.Context, name, seen string) error {
	s, ok := h.Bundle(name)
	if !ok || s.bundle.builtin {
		return fmt.Errorf("trust plugin %s: there is no third-party plugin of that name", name)
	}
	if pin := h.opt.Checksums[name]; pin != "" || h.opt.Pinned {
		return fmt.Errorf("trust plugin %s: its checksum is pinned by the configuration: change plugins.checksums.%s",
			name, name)
	}
	sum, err := Confirm(s.bundle.path, seen)
	if err != nil {
		if s.Status().State == Untrusted { // so that it shows the checksum of what is there now
			s.Restart()
		} else {
			s.outlives(ctx)
		}
		return fmt.Errorf("trust plugin %s: %w", name, err)
	}
	if err := h.opt.Trust.Trust(ctx, name, sum); err != nil {
		return fmt.Errorf("trust plugin %s: %w", name, err)
	}
	h.log.Info("plugin trusted", "bundle", name, "sha256", hex.EncodeToString(sum))
	s.Restart()
	return nil
}

// outlives reports whether the process of a bundle goes on although its file is another
// one now: that one may not run, which its status says with the checksum of the new file.
func (s *Supervisor) outlives(ctx context.Context) bool {
	s.mu.Lock()
	b, p := s.bundle, s.proc
	steady := s.state == Running && !s.pending
	s.mu.Unlock()
	if b.builtin || !steady {
		return false
	}
	err := usable(b)
	var sum []byte
	if err == nil {
		sum, err = s.host.verify(ctx, b)
	}
	if _, refused := refusal(err); !refused {
		return false
	}
	s.mu.Lock()
	if s.state != Running || s.pending || s.proc != p {
		s.mu.Unlock()
		return false
	}
	s.err, s.bundle.checksum = err, sum
	s.mu.Unlock()
	s.log.Warn("the file of this plugin was replaced by one that may not run; the process of the one before goes on",
		"error", err)
	s.host.opt.Changed(s.Status())
	return true
}

// Confirm returns the SHA-256 of a file if it is the one that a user has seen,
// in hexadecimal. The error is an *sdk.InvalidError of the field sha256 when that
// is no checksum, and else says what the file is now.
func Confirm(path, seen string) ([]byte, error) {
	want, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(seen), "sha256:"))
	switch {
	case seen == "":
		return nil,
			sdk.Invalid("sha256",
				"is required: the checksum of the file that you mean to trust, as dogwatch plugin list and the page of the plugins show it")
	case err != nil || len(want) != sha256.Size:
		return nil, sdk.Invalid("sha256", "want a SHA-256 in hexadecimal, %d digits", 2*sha256.Size)
	}
	sum, err := Checksum(path)
	if err == nil && !bytes.Equal(sum, want) {
		err = fmt.Errorf("its file is not the one with the checksum %x: it is %x now; look at it again, and trust that if it is yours", want, sum)
	}
	return sum, err
}

// checkOwner refuses what another user could swap: links, and files or
// folders that others may write.
func checkOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at the executable: %w", err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("look at plugins.dir: %w", err)
	}
	if err := checkFile(info); err != nil {
		return err
	}
	return checkMode(dir)
}

func checkFile(info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return untrusted("it is not a regular file: put the executable itself into plugins.dir, not a link")
	}
	return checkMode(info)
}

// checkMode refuses what others may change.
func checkMode(info os.FileInfo) error {
	if info.Mode().Perm()&0o022 != 0 {
		return untrusted("%s can be changed by others: run chmod go-w on it", info.Name())
	}
	if !ownedByUs(info) {
		return untrusted("%s belongs to another user: it must belong to root or to the user of dogwatch", info.Name())
	}
	return nil
}
