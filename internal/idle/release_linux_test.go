package idle

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// maps returns what the process has in memory (proc_pid_smaps(5)).
func maps(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skipf("this system does not report what a process has in memory: %v", err)
	}
	return string(text)
}

// resident returns how many KiB of the program's read-only pages are in memory.
func resident(maps, program string) int {
	total, counts := 0, false
	for line := range strings.Lines(maps) {
		var from, to uintptr
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n == 3 && len(mode) == 4 {
			counts = mode[1] == '-' && strings.HasSuffix(strings.TrimSpace(line), " "+program)
		}
		var kib int
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kib); n == 1 && counts {
			total += kib
		}
	}
	return total
}

func TestReleaseDropsProgram(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := resident(maps(t), program)
	Release()
	text := maps(t) // counting uses pages again
	// Some pages are used again at once, in blocks that the system reads ahead.
	if after := resident(text, program); before == 0 || after > before*7/8 {
		t.Errorf("%d KiB of %d are left", after, before)
	}
}
