package plugin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// threads returns how many threads the system has (proc_loadavg(5)).
func threads() (n int, known bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	var load float64
	var running int
	_, err = fmt.Sscanf(string(text), "%f %f %f %d/%d", &load, &load, &load, &running, &n)
	return n, err == nil
}

// groups returns how many processes each process group has, of those that can be seen (proc_pid_stat(5)).
func groups() map[int]int {
	sizes := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		var state string
		var parent, group int
		after := text[bytes.LastIndexByte(text, ')')+1:] // the name before may hold anything
		if n, _ := fmt.Sscan(string(after), &state, &parent, &group); n == 3 {
			sizes[group]++
		}
	}
	return sizes
}
