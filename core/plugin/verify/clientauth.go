package verify

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"
)

// refusalTime is how long a plugin may take to refuse a client.
const refusalTime = 3 * time.Second

// servesAnyClient reports whether a gRPC server at addr answers a client without a certificate.
func servesAnyClient(ctx context.Context, addr net.Addr) bool {
	if addr == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, refusalTime)
	defer cancel()
	// The server is the one that was started: what matters is whether it looks at the client.
	dialer := tls.Dialer{
		Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
	}
	c, err := dialer.DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		return false
	}
	defer c.Close()
	if end, has := ctx.Deadline(); has {
		if err := c.SetDeadline(end); err != nil {
			return false
		}
	}
	// With TLS 1.3 a client learns that it is refused when it reads: a server that takes it
	// sends its settings as the first frame of HTTP/2, whose type is 4.
	if _, err := io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		return false
	}
	frame := make([]byte, 9)
	_, err = io.ReadFull(c, frame)
	return err == nil && frame[3] == 4
}
