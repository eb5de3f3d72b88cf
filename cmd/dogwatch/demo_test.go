package main

import (
	"net"
	"testing"
)

// TestDemoTakesAFreePort: a Dogwatch that serves already is left in peace.
func TestDemoTakesAFreePort(t *testing.T) {
	const host = "127.0.0.1"
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	taken := l.Addr().(*net.TCPAddr).Port
	got := portFrom(t.Context(), host, taken)
	if got <= taken || got > taken+20 {
		t.Errorf("port %d, where %d is taken", got, taken)
	}
	l.Close()
	if got := portFrom(t.Context(), host, taken); got != taken {
		t.Errorf("port %d, where %d is free", got, taken)
	}
}
