package plugin

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
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
