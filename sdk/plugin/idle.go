package plugin

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// idleAfter is how long after its start or its last call a plugin counts as idle.
// The calls of one check follow each other faster than this.
const idleAfter = 20 * time.Millisecond

// idleTimer releases memory to the system when a plugin becomes idle: a call may
// need several times what the plugin needs while it waits for the next one,
// which may come in an hour. It is safe for concurrent use.
type idleTimer struct {
	timer *time.Timer

	mu      sync.Mutex
	running int // calls under way that need memory
}

func newIdleTimer(release func()) *idleTimer {
	return &idleTimer{timer: time.AfterFunc(idleAfter, release)}
}

func (i *idleTimer) stop() { i.timer.Stop() }

// begin keeps the memory until the end of a call.
func (i *idleTimer) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running++
	i.timer.Stop()
}

// end starts the timer when no other call is under way.
func (i *idleTimer) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running--; i.running == 0 {
		i.timer.Reset(idleAfter)
	}
}

// touch starts the timer anew, for a message within a stream: the call may never end.
func (i *idleTimer) touch() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running == 0 {
		i.timer.Reset(idleAfter)
	}
}

// options make a server reset the timer after every call but pings and calls of
// Limits. Those need little memory and come all day: the plugin would never be idle.
func (i *idleTimer) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(i.unary), grpc.ChainStreamInterceptor(i.stream)}
}

func (i *idleTimer) unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if strings.HasPrefix(info.FullMethod, protocol.MethodPrefix) &&
		info.FullMethod != pluginv1.Registry_Limits_FullMethodName {
		i.begin()
		defer i.end()
	}
	return next(ctx, req)
}

// stream tells calls that end by themselves, such as Tags, which have a deadline, from those that stay open.
func (i *idleTimer) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if _, bounded := ss.Context().Deadline(); bounded {
		i.begin()
		defer i.end()
		return next(srv, ss)
	}
	defer i.touch()
	return next(srv, idleStream{ss, i})
}

// idleStream resets the timer after each message of the host.
type idleStream struct {
	grpc.ServerStream
	idle *idleTimer
}

func (s idleStream) RecvMsg(m any) error {
	defer s.idle.touch()
	return s.ServerStream.RecvMsg(m)
}
