//go:build !linux

package plugin

// protectMemory has nothing to do where a process cannot ask for it.
func protectMemory() error { return nil }
