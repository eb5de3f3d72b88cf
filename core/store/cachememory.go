package store

import (
	"bytes"
	"compress/flate"
	"sync"
	"time"
)

// defaultCacheBytes bounds the registry cache: tag lists of some thousands of repositories.
const defaultCacheBytes = 32 << 20

// cache is the part of the registry cache that is kept in memory.
type cache struct {
	limit int64
	// room is how many bytes may be written, at least, before the limit is reached. The holder of the writer has it.
	room int64

	deflating sync.Mutex
	deflater  sync.Pool // of one *flate.Writer, which is large, until the garbage collector takes it

	mu   sync.Mutex
	used map[string]time.Time // reads not yet written to the file
}

func (c *cache) take() map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.used
	c.used = nil
	return used
}

// restore keeps what could not be written, unless the entry was used again since.
func (c *cache) restore(used map[string]time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, usedAt := range c.used {
		used[key] = usedAt
	}
	c.used = used
}

func (c *cache) deflate(body []byte) ([]byte, error) {
	if len(body) <= shortBody {
		return append([]byte{plain}, body...), nil
	}
	c.deflating.Lock()
	defer c.deflating.Unlock()
	var b bytes.Buffer
	b.WriteByte(deflated)
	w, ok := c.deflater.Get().(*flate.Writer)
	if ok {
		w.Reset(&b)
	} else {
		var err error
		if w, err = flate.NewWriter(&b, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer c.deflater.Put(w)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() > len(body) {
		return append([]byte{plain}, body...), nil
	}
	return b.Bytes(), nil
}

// Stored bodies begin with how they are stored: 0 as they are, 1 deflated.
const (
	plain    = 0
	deflated = 1
)

// shortBody is what is not worth deflating, in bytes.
const shortBody = 256
