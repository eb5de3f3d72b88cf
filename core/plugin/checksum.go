package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
)

// Checksum returns the SHA-256 of a file.
func Checksum(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the executable: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, fmt.Errorf("read the executable: %w", err)
	}
	return sum.Sum(nil), nil
}

// content identifies what is in a file without reading it: nobody but root, who can set the clock,
// can change the content and leave the time of the last change of its state as it was (inode(7), ctime).
type content struct {
	device, inode     uint64
	size              int64
	modified, changed time.Duration // since 1970
}

// checksums are those of files as they were read last. They may be used concurrently.
type checksums struct {
	mu   sync.Mutex
	read map[string]readFile // by path
}

type readFile struct {
	content content
	sum     []byte
}

// settledAfter is how old a change of a file must be so that a later one has another time: the coarsest
// time of a file system in use is that of FAT, 2 s.
const settledAfter = 2 * time.Second

// sum returns the SHA-256 of a file, which is read unless it is as it was when it was read last.
func (c *checksums) sum(path string) ([]byte, error) {
	before, settled := look(path)
	if sum := c.known(path, before); settled && sum != nil {
		return sum, nil
	}
	sum, err := Checksum(path)
	if after, _ := look(path); err != nil || !settled || after != before {
		return sum, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil {
		c.read = map[string]readFile{}
	}
	c.read[path] = readFile{before, sum}
	return sum, nil
}

// known returns the SHA-256 of a file with this content; nil when another one, or none, was read.
func (c *checksums) known(path string, now content) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := c.read[path]; last.content == now {
		return last.sum
	}
	return nil
}

// look returns what is in a file now, and whether any later change will show.
func look(path string) (content, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return content{}, false
	}
	c, known := contentOf(info)
	return c, known && time.Since(time.Unix(0, int64(c.changed))) > settledAfter
}

// forget forgets a file.
func (c *checksums) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.read, path)
}

// verify decides whether the executable may run now, and returns its checksum,
// with an error, too, unless the file could not be read. The first sight of a file is recorded as trusted unless only
// pinned files may start.
func (h *Host) verify(ctx context.Context, b bundle) ([]byte, error) {
	if err := checkOwner(b.path); err != nil {
		return nil, err
	}
	sum, err := h.checksums.sum(b.path)
	if err != nil {
		return nil, err
	}
	if pin := h.opt.Checksums[b.name]; pin != "" {
		if !strings.EqualFold(pin, hex.EncodeToString(sum)) {
			return sum, untrusted("its checksum %x is not the one in plugins.checksums.%s", sum, b.name)
		}
		return sum, nil
	}
	if h.opt.Pinned {
		return sum, untrusted("not pinned: to run it, set plugins.checksums.%s: %x", b.name, sum)
	}
	known, seen, err := h.opt.Trust.Checksum(ctx, b.name)
	switch {
	case err != nil:
		return sum, fmt.Errorf("look up the trusted checksum: %w", err)
	case seen && !bytes.Equal(known, sum):
		return sum,
			untrusted("its file changed since it was trusted (checksum was %x, is %x): if you changed it, run: %s plugin trust %s %x", known, sum, h.opt.Command, b.name, sum)
	case !seen:
		if err := h.opt.Trust.Trust(ctx, b.name, sum); err != nil {
			return sum, fmt.Errorf("record the trusted checksum: %w", err)
		}
		h.log.Info("trusting a plugin seen for the first time", "bundle", b.name, "sha256", hex.EncodeToString(sum))
	}
	return sum, nil
}

// checkSum makes sure that the program that is going to be started, the file of the bundle or a copy that was made of
// it since, is the one that was found to be trusted.
func (h *Host) checkSum(b bundle, program string) error {
	if b.builtin {
		return nil
	}
	now, settled := look(b.path)
	sum := h.checksums.known(b.path, now)
	if !settled || sum == nil {
		var err error
		if sum, err = Checksum(program); err != nil {
			return err
		}
	}
	if !bytes.Equal(sum, b.checksum) {
		return goplugin.ErrChecksumsDoNotMatch
	}
	return nil
}
