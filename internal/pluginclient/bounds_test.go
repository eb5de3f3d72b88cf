package pluginclient

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// greedy is a plugin that sends more than a host takes.
type greedy struct {
	pluginv1.UnimplementedRegistryServer
	pluginv1.UnimplementedWatcherServer

	resolve func() (string, error)
	sent    atomic.Int64 // events
	ended   chan struct{}
}

func (g *greedy) Resolve(context.Context, *pluginv1.ResolveRequest) (*pluginv1.ResolveResponse, error) {
	digest, err := g.resolve()
	return &pluginv1.ResolveResponse{Digest: digest}, err
}

// Watch sends events of 1 KiB for as long as somebody takes them.
func (g *greedy) Watch(_ *pluginv1.WatchRequest, out grpc.ServerStreamingServer[pluginv1.WatchResponse]) error {
	defer close(g.ended)
	e := &pluginv1.WatchResponse{ContainerId: strings.Repeat("x", 1<<10)}
	for out.Send(e) == nil {
		g.sent.Add(1)
	}
	return nil
}

// List sends too many containers, and then hangs until it is cancelled.
func (g *greedy) List(_ *pluginv1.ListRequest, out grpc.ServerStreamingServer[pluginv1.ListResponse]) error {
	defer close(g.ended)
	page := &pluginv1.ListResponse{Containers: make([]*pluginv1.Container, protocol.MaxContainers)}
	for i := range page.Containers {
		page.Containers[i] = &pluginv1.Container{}
	}
	for range 2 {
		if err := out.Send(page); err != nil {
			return err
		}
	}
	<-out.Context().Done()
	return out.Context().Err()
}

// dial returns a client of the plugin.
func (g *greedy) dial(t *testing.T) *Client {
	t.Helper()
	g.ended = make(chan struct{})
	listener, s := bufconn.Listen(8<<10), grpc.NewServer()
	pluginv1.RegisterRegistryServer(s, g)
	pluginv1.RegisterWatcherServer(s, g)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	socket := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	dial := append(DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(socket))
	conn, err := grpc.NewClient("passthrough:///greedy", dial...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return NewClient(conn)
}

// TestLargeMessageIsNoRateLimit: gRPC says of a message that is too large what plugins say of a rate limit.
func TestLargeMessageIsNoRateLimit(t *testing.T) {
	digest, failure := "", error(nil)
	g := &greedy{resolve: func() (string, error) { return digest, failure }}
	c := g.dial(t).Registry("r")
	resolve := func() error {
		_, err := c.Resolve(t.Context(), registry.Repository{}, "1")
		return err
	}
	var limited *sdk.RateLimitedError
	digest = strings.Repeat("x", 1<<20)
	const want = "what the plugin answered to Registry.Resolve is refused: a message of it has more than 131088 bytes"
	if err := resolve(); !errors.Is(err, protocol.ErrRefused) || errors.As(err, &limited) || err.Error() != want {
		t.Errorf("got %v", err)
	}
	digest, failure = "", status.Error(codes.ResourceExhausted, "slow down")
	if err := resolve(); errors.Is(err, protocol.ErrRefused) || !errors.As(err, &limited) {
		t.Errorf("got %v", err)
	}
	digest, failure = "sha256:1", nil
	if err := resolve(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestLargeHeaderIsRefused: what does not fit into the header of an error is not read.
func TestLargeHeaderIsRefused(t *testing.T) {
	long := status.Error(codes.NotFound, strings.Repeat("x", 1<<20))
	g := &greedy{resolve: func() (string, error) { return "", long }}
	_, err := g.dial(t).Registry("r").Resolve(t.Context(), registry.Repository{}, "1")
	if err == nil || len(err.Error()) > 1000 || errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("got %.200v", err)
	}
}

// TestListEndsAtItsBound: the call is cancelled as soon as a list has too much, and not when it ends.
func TestListEndsAtItsBound(t *testing.T) {
	g := &greedy{}
	c := g.dial(t)
	_, err := c.Watcher("w").List(t.Context())
	if !errors.Is(err, protocol.ErrRefused) {
		t.Errorf("got %v", err)
	}
	<-g.ended
}

// TestFloodOfEventsWaitsInThePlugin: what the host does not take it does not receive either.
func TestFloodOfEventsWaitsInThePlugin(t *testing.T) {
	g := &greedy{}
	c := g.dial(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken, watched := make(chan struct{}), make(chan error, 1)
	go func() {
		watched <- c.Watcher("w").Watch(ctx, func(watcher.Event) {
			select {
			case taken <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	const fast = 20_000 // events that are taken at once, so that gRPC finds the connection fast
	for range fast {
		<-taken
	}
	before, unchanged := int64(-1), 0
	for unchanged < 20 {
		if n := g.sent.Load(); n == before {
			unchanged++
		} else {
			before, unchanged = n, 0
		}
		time.Sleep(5 * time.Millisecond) // until nothing is sent any more
	}
	// What waits is in the window of the stream, and in the buffers of the server and of the connection.
	if bytes := (before - fast) << 10; bytes > 2*window {
		t.Errorf("%d bytes were sent that nobody takes", bytes)
	}
	t.Logf("%d KiB wait", before-fast)
	cancel()
	<-g.ended
	if err := <-watched; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestBrokerIsNotOpened: a plugin cannot announce connections.
func TestBrokerIsNotOpened(t *testing.T) {
	opened := false
	next := func(
		context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		opened = true
		return nil, nil
	}
	_, err := withoutBroker(t.Context(), nil, nil, "/plugin.GRPCBroker/StartStream", next)
	if status.Code(err) != codes.Unimplemented || opened {
		t.Errorf("got %v, opened: %t", err, opened)
	}
	if _, err := withoutBroker(t.Context(), nil, nil, "/plugin.GRPCStdio/StreamStdio", next); err != nil || !opened {
		t.Errorf("got %v, opened: %t", err, opened)
	}
}
