//go:build !linux

package plugin

// dropProgram does nothing: no other system is known to map more of a program than it uses.
func dropProgram() {}
