package wireplugin

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// watcher is the service of a wire plugin that is one.
type watcher struct {
	pluginv1.UnimplementedWatcherServer
	wire *wire
}

// List asks the service for containers, of which it has none.
func (s watcher) List(_ *pluginv1.ListRequest, out grpc.ServerStreamingServer[pluginv1.ListResponse]) error {
	if s.wire.options == nil {
		return status.Error(codes.FailedPrecondition, "not configured")
	}
	return s.wire.send(out.Context())
}

// Watch waits for an answer of the service, or for nothing at all.
func (s watcher) Watch(_ *pluginv1.WatchRequest, out grpc.ServerStreamingServer[pluginv1.WatchResponse]) error {
	s.wire.watches.Add(1)
	defer s.wire.watches.Done()
	ctx := out.Context()
	switch {
	case s.wire.is("no-events"):
		return status.Error(codes.Unimplemented, "no events")
	case s.wire.is("forgets"):
		return status.Error(codes.FailedPrecondition, "not configured")
	case s.wire.is("stumbles"):
		return status.Error(codes.Internal, "nil pointer")
	case s.wire.is("clings-to-events"):
		ctx = context.WithoutCancel(ctx)
	case s.wire.is("waits-forever"):
		for { // a select without cases ends a program without cgo as a deadlock
			time.Sleep(time.Hour)
		}
	case s.wire.is("waits-for-shutdown"):
		<-s.wire.ended
		return ctx.Err()
	case s.wire.is("waits"):
		<-ctx.Done()
		return ctx.Err()
	}
	return s.wire.send(ctx)
}
