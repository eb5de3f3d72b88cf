package updater

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ids makes the ids of operations: the time in milliseconds and some random bits,
// in base 36, so that they sort by the time of creation and can be part of the name
// of a container.
type ids struct {
	now  func() time.Time
	mu   sync.Mutex
	last int64
}

const (
	base36       = 36
	timeDigits   = 9 // enough for the next three thousand years
	randomDigits = 4
)

// next returns an id that is greater than the one before, also within one millisecond.
func (i *ids) next() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = max(i.last+1, i.now().UnixMilli())
	text := strconv.FormatInt(i.last, base36)
	return strings.Repeat("0", max(0, timeDigits-len(text))) + text + strings.ToLower(rand.Text()[:randomDigits])
}
