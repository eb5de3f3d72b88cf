// Package idle releases the memory of a process that has nothing to do.
package idle

import "runtime/debug"

// Release returns to the system the memory that the process does not use at
// the moment: of its heap, and, on Linux, the pages of the program itself. Those
// are read from its file again when they are needed, mostly from the system's
// cache. It takes some milliseconds; a host and its plugins call it when they are idle.
func Release() {
	debug.FreeOSMemory()
	DropProgram()
}
