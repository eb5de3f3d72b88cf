package plugin

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// restAfter is how long after its start or its last call a plugin rests.
const restAfter = 250 * time.Millisecond

// rest has memory given back to the system when a plugin has had no call for a
// moment: a call may need several times what the plugin needs while it waits
// for the next one, which may come in an hour.
type rest struct{ timer *time.Timer }

func newRest(giveBack func()) rest { return rest{time.AfterFunc(restAfter, giveBack)} }

func (r rest) stop() { r.timer.Stop() }

// options make a server tell of every call but those that need next to nothing and
// come all day, pings and questions about limits: they would cost it its rest.
func (r rest) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(r.unary), grpc.ChainStreamInterceptor(r.stream)}
}

func (r rest) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if strings.HasPrefix(info.FullMethod, ours) && info.FullMethod != pluginv1.Registry_Limits_FullMethodName {
		defer r.timer.Reset(restAfter)
	}
	return next(ctx, req)
}

func (r rest) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	defer r.timer.Reset(restAfter)
	return next(srv, restingStream{ss, r})
}

// restingStream rests after each thing that a host says during a call that may never end.
type restingStream struct {
	grpc.ServerStream
	rest rest
}

func (s restingStream) RecvMsg(m any) error {
	defer s.rest.timer.Reset(restAfter)
	return s.ServerStream.RecvMsg(m)
}
