package plugin

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// idleAfter is how long after its start or its last call a plugin counts as idle.
const idleAfter = 250 * time.Millisecond

// idleTimer releases memory to the system when a plugin becomes idle: a call may
// need several times what the plugin needs while it waits for the next one,
// which may come in an hour.
type idleTimer struct{ timer *time.Timer }

func newIdleTimer(release func()) idleTimer { return idleTimer{time.AfterFunc(idleAfter, release)} }

func (i idleTimer) stop() { i.timer.Stop() }

// options make a server reset the timer after every call but pings and calls of
// Limits. Those need little memory and come all day: the plugin would never be idle.
func (i idleTimer) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(i.unary), grpc.ChainStreamInterceptor(i.stream)}
}

func (i idleTimer) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if strings.HasPrefix(info.FullMethod, protocol.MethodPrefix) && info.FullMethod != pluginv1.Registry_Limits_FullMethodName {
		defer i.timer.Reset(idleAfter)
	}
	return next(ctx, req)
}

func (i idleTimer) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	defer i.timer.Reset(idleAfter)
	return next(srv, idleStream{ss, i})
}

// idleStream resets the timer after each message of the host: the call may never end.
type idleStream struct {
	grpc.ServerStream
	idle idleTimer
}

func (s idleStream) RecvMsg(m any) error {
	defer s.idle.timer.Reset(idleAfter)
	return s.ServerStream.RecvMsg(m)
}
