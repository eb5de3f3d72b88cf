//go:build !linux

package plugin

import "os"

// offspring is the process of a third-party bundle with all that came of it, which is not known here.
type offspring struct {
	leader int
	c      *confinement
}

// entry is a process of the system.
type entry struct{}

func entries() []entry { return nil }

func (o *offspring) living([]entry) []int { return nil }

func (o *offspring) end() int { return 0 }

func adopt() error { return nil }

// orphanage has nothing to collect here.
type orphanage struct{}

func (*orphanage) collect() {}

func threads() (int, bool) { return 0, false }

func freeSpace(string) int64 { return 0 }

func usage(string, []int) int64 { return 0 }

func sameVolume(string, string) bool { return true }

func stands(*os.Root, string) error { return nil }
