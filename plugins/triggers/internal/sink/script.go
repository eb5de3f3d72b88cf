package sink

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Script is a server that does not speak HTTP: it greets, and sends the
// same response to whatever it reads; "" sends nothing. It calls reached for each
// connection, and returns where it is. Its clients must hang up before t ends.
func Script(t testing.TB, greeting, response string, reached func()) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			reached()
			all.Go(func() {
				defer conn.Close()
				_, _ = io.WriteString(conn, greeting)
				buffer := make([]byte, 1<<10)
				for {
					if _, err := conn.Read(buffer); err != nil {
						return
					}
					_, _ = io.WriteString(conn, response)
				}
			})
		}
	})
	return l.Addr().(*net.TCPAddr)
}
