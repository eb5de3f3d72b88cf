package idle

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// DropProgram unmaps the pages of the executable that were read and not
// written, until they are used again: setting up its packages touches nearly
// all of a program, working a small part (madvise(2), MADV_DONTNEED). Where
// that fails the pages stay, which does no harm.
func DropProgram() {
	maps, err := os.Open("/proc/self/maps") // proc_pid_maps(5)
	if err != nil {
		return
	}
	defer maps.Close()
	program, err := os.Executable()
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		var mode string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &mode); n != 3 || len(mode) != 4 {
			continue
		}
		if mode[1] == '-' && mode[3] == 'p' && strings.HasSuffix(lines.Text(), " "+program) {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}
