// Package sandbox takes rights away from a thread for good, and so from every
// program that this thread starts: files by Landlock, system calls by seccomp,
// and the capabilities of root. It does what the kernel can, and says what it did.
//
// Nothing is executed in between: a host starts a program from a thread of its
// own that it has restricted before. It needs neither cgo nor a second start.
package sandbox

import "fmt"

// Rules say what is left to a program.
type Rules struct {
	// Read are folders and files that it may read and execute, Write those that it may
	// change as well. With neither, files are not restricted. What does not exist is passed over.
	Read, Write []string
	// KeepCapabilities leaves root what it can.
	KeepCapabilities bool
	// KeepModes refuses to change the modes of files by their paths: for a program of the user
	// of files that it may not reach, since Landlock does not restrict that. Of a file that it
	// has opened it may change the mode.
	KeepModes bool
}

// Held is what came of Rules.
type Held struct {
	// Files is the version of Landlock's interface that restricts files; 0 when they are not restricted.
	Files int
	// Calls is true when system calls are filtered, Capabilities when root's were reduced.
	Calls, Capabilities bool
	// Lacks say what could not be had, and why.
	Lacks []string
}

// Support is what the kernel has.
type Support struct {
	// Landlock is the version of its interface, 0 for none; NoLandlock says why there is none.
	Landlock   int
	NoLandlock string
	// Seccomp is whether system calls can be filtered.
	Seccomp bool
}

// UnixSockets is the version of Landlock that restricts which sockets a program connects to.
const UnixSockets = 9

// String says in a sentence what the kernel has.
func (s Support) String() string {
	files, calls := fmt.Sprintf("files by Landlock, version %d", s.Landlock), "system calls by seccomp"
	if s.Landlock == 0 {
		files = "files not at all (" + s.NoLandlock + ")"
	}
	if !s.Seccomp {
		calls = "system calls not at all (kernel without seccomp filters)"
	}
	return files + "; " + calls
}
