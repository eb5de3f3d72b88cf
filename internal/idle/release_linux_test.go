package idle

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// mapped returns how many KiB of files the process has in memory (proc_pid_status(5)).
func mapped(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "RssFile: %d kB", &kib); n == 1 {
			return kib
		}
	}
	t.Skip("this system does not tell how much of its files a process has in memory")
	return 0
}

func TestReleaseDropsProgram(t *testing.T) {
	before := mapped(t)
	Release()
	if after := mapped(t); after >= before*3/4 {
		t.Errorf("%d KiB of %d are left", after, before)
	}
}
