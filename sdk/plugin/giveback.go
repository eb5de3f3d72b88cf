package plugin

import "runtime/debug"

// GiveBack returns to the system the memory that the process does not use at
// the moment: of its heap, and, where the system can be told, the pages of the
// program itself. Those are read from its file again when they are needed,
// which mostly means from the system's cache. It takes some milliseconds; a host and its
// plugins call it when nothing has happened for a moment.
func GiveBack() {
	debug.FreeOSMemory()
	dropProgram()
}
