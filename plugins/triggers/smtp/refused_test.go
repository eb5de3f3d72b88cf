package smtp

import (
	"net"
	"os"
	"syscall"
	"testing"
)

// TestRefusedConnectionNamesTheServerOnce: what the dialer says of the address is left out.
func TestRefusedConnectionNamesTheServerOnce(t *testing.T) {
	s := &smtp{host: "mail.lan", port: 25}
	err := s.explain(t.Context(), "connect", "host", &net.OpError{
		Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	})
	if want := "mail server mail.lan:25: connect: connection refused"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
