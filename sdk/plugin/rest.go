package plugin

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
)

// restAfter is how long after its start or its last call a plugin rests.
const restAfter = 250 * time.Millisecond

// rest has memory given back to the system when a plugin has had no call for a
// moment: a call may need several times what the plugin needs while it waits
// for the next one, which may come in an hour.
type rest struct{ timer *time.Timer }

func newRest(giveBack func()) rest { return rest{time.AfterFunc(restAfter, giveBack)} }

func (r rest) stop() { r.timer.Stop() }

// options make a server tell of the end of every call but pings, which would cost it its rest.
func (r rest) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(r.unary), grpc.ChainStreamInterceptor(r.stream)}
}

func (r rest) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if strings.HasPrefix(info.FullMethod, ours) {
		defer r.timer.Reset(restAfter)
	}
	return next(ctx, req)
}

func (r rest) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	defer r.timer.Reset(restAfter)
	return next(srv, ss)
}
