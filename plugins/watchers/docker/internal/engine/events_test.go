package engine

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// A stream outlives the timeout of responses, however long it is idle.
func TestEventsHaveNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		simulated := enginesim.New(enginesim.Config{})
		if err := simulated.Populate(1, func(int) string { return "nginx:1.25" }); err != nil {
			t.Fatal(err)
		}
		l := pipes{make(chan net.Conn), make(chan struct{})}
		s := simulated.Serve(l)
		defer s.Close()
		e := New(Endpoint{Network: "tcp", Address: "engine:2375"}, "", false)
		e.transport.next.DialContext = l.dial
		stream, err := e.Events(t.Context(), "container", time.Time{}, []string{"die"})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		time.Sleep(24 * time.Hour)
		if err := simulated.Remove("c0000"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(stream).ReadString('\n'); err != nil || !strings.Contains(line, `"Action":"die"`) {
			t.Errorf("read %s, %v", line, err)
		}
	})
}

// pipes is a listener without a network.
type pipes struct {
	calls  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.calls <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }
