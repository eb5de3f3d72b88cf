//go:build !linux

package plugin

// threads are not known here.
func threads() (int, bool) { return 0, false }

func groups() map[int]int { return nil }
