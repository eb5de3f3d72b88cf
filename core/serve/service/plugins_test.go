package service

import (
	"os"
	"runtime"
	"testing"
)

func TestResidentMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the memory of a process in /proc")
	}
	if n := residentMemory(os.Getpid()); n < 1<<20 || n > 1<<36 {
		t.Errorf("this process occupies %d bytes", n)
	}
	if n := residentMemory(0); n != 0 {
		t.Errorf("no process occupies %d bytes", n)
	}
	if n := residentMemory(1 << 30); n != 0 {
		t.Errorf("a process that has exited occupies %d bytes", n)
	}
}
