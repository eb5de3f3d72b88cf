package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuAtRest returns the time of the processor that all processes of the program have had, one second from
// now: what they collect and store after a check is part of what it costs.
func (d *daemon) cpuAtRest() time.Duration {
	d.t.Helper()
	time.Sleep(time.Second)
	return cpu(d.t, d.processes())
}

// cpu returns the time of the processor that processes have had since they were
// started, with that of their children that have ended.
func cpu(t testing.TB, pids []int) time.Duration {
	t.Helper()
	var sum time.Duration
	for _, pid := range pids {
		var ts unix.Timespec
		// The clock of another process, as clock_getcpuclockid(3) makes it: its id inverted, above
		// three bits of which 2 stands for the scheduler's count (include/linux/posix-timers_types.h).
		must(t, unix.ClockGettime(int32(^pid<<3|2), &ts))
		sum += time.Duration(ts.Nano()) + cpuOfEnded(t, pid)
	}
	return sum
}

// cpuOfEnded returns the time of the processor that the ended children of a process have had (proc_pid_stat(5),
// cutime and cstime, in hundredths of a second).
func cpuOfEnded(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the third field is the first after the name
	var ticks time.Duration
	for _, field := range fields[13:15] {
		n, err := strconv.Atoi(string(field))
		must(t, err)
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}
