package store

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dogwatch/dogwatch/sdk"
)

// Record is one stored container. It is shared and must not be changed.
type Record struct {
	Container sdk.Container
	// JSON is the container's compact API form.
	JSON []byte
	// FirstSeen is when a container of this watcher and name was first stored;
	// it survives the container being recreated under another id.
	FirstSeen time.Time
	// FoundAt is since when the update that the container has is known; zero when
	// it has none.
	FoundAt time.Time
	// CheckedAt is when the last check ended; zero when there was none.
	CheckedAt time.Time

	order string
}

// Snapshot is all containers as they were after one commit. It never changes
// and may be read by any number of goroutines.
type Snapshot struct {
	version uint64
	all     []*Record
	byID    map[string]*Record
	byName  map[identity]*Record
}

// identity is what a container keeps when it is recreated.
type identity struct{ watcher, name string }

func identityOf(c *sdk.Container) identity { return identity{c.Watcher, c.Name} }

// newSnapshot sorts records and indexes them.
func newSnapshot(version uint64, records []*Record) *Snapshot {
	slices.SortFunc(records, func(a, b *Record) int {
		return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.Container.ID, b.Container.ID))
	})
	sn := &Snapshot{
		version: version,
		all:     records,
		byID:    make(map[string]*Record, len(records)),
		byName:  make(map[identity]*Record, len(records)),
	}
	for _, r := range records {
		sn.byID[r.Container.ID] = r
		sn.byName[identityOf(&r.Container)] = r
	}
	return sn
}

// Version differs between any two snapshots with different content, also
// across restarts of the process.
func (sn Snapshot) Version() uint64 { return sn.version }

// All returns every container sorted by watcher, name and running tag, as
// users expect it: punctuation before digits before letters, letter case only
// deciding between otherwise equal texts. The slice must not be changed.
func (sn Snapshot) All() []*Record { return sn.all }

// Get returns the container with this id.
func (sn Snapshot) Get(id string) (*Record, bool) {
	r, ok := sn.byID[id]
	return r, ok
}

// Named returns the container that has this name at this watcher now, whatever its id.
func (sn Snapshot) Named(watcher, name string) (*Record, bool) {
	r, ok := sn.byName[identity{watcher, name}]
	return r, ok
}

// punctuation is the order of the Unicode root collation below the digits.
const punctuation = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"

// orderOf returns a key whose byte order is the order of All. Per field it holds
// the characters without their case, then their case, so that case only decides
// where nothing else does. Characters beyond ASCII follow it by code point.
func orderOf(c *sdk.Container) string {
	var b strings.Builder
	for _, field := range []string{c.Watcher, c.Name, c.Image.Tag.Value} {
		for _, r := range field {
			if i := strings.IndexRune(punctuation, r); i >= 0 {
				b.WriteByte(byte(2 + i)) // 1 ends a field, so a text precedes its extensions
			} else {
				b.WriteRune(unicode.ToLower(r))
			}
		}
		b.WriteByte(1)
		for _, r := range field {
			if unicode.ToLower(r) == r {
				b.WriteByte(2)
			} else {
				b.WriteByte(3)
			}
		}
		b.WriteByte(1)
	}
	return b.String()
}
