package wireplugin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
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

// List asks the service for containers, of which it has none, or has what is too much for a host.
func (s watcher) List(_ *pluginv1.ListRequest, out grpc.ServerStreamingServer[pluginv1.ListResponse]) error {
	switch {
	case s.wire.options == nil:
		return status.Error(codes.FailedPrecondition, "not configured")
	case s.wire.has("lists-50000"):
		return list(out, 50_000, 20_000, 250)
	case s.wire.has("lists-large"): // messages as large as they may be
		return list(out, 50_000, 20_000, 63)
	case s.wire.has("lists-10000"):
		return list(out, 10_000, 2_000, 20)
	case s.wire.has("lists-empty"): // 4 MiB on the wire, and a gigabyte when they are decoded
		return out.Send(empty(2 << 20))
	case s.wire.has("lists-10001-empty"):
		return out.Send(empty(10_001))
	case s.wire.has("lists-17-mib"):
		return out.Send(&pluginv1.ListResponse{Containers: []*pluginv1.Container{{Id: strings.Repeat("x", 17<<20)}}})
	case s.wire.has("writes-a-line"):
		part := bytes.Repeat([]byte("x"), 1<<20)
		for range 100 {
			if _, err := os.Stderr.Write(part); err != nil {
				return err
			}
		}
		return status.Error(codes.Internal, "100 MiB were written")
	}
	return s.wire.send(out.Context())
}

// empty is a page of containers of which nothing is said.
func empty(containers int) *pluginv1.ListResponse {
	return &pluginv1.ListResponse{Containers: slices.Repeat([]*pluginv1.Container{{}}, containers)}
}

// list sends containers whose labels have so many bytes, in so many messages.
func list(out grpc.ServerStreamingServer[pluginv1.ListResponse], containers, bytes, pages int) error {
	const labels = 20
	for page := range pages {
		resp := &pluginv1.ListResponse{}
		for i := range containers / pages {
			c := &pluginv1.Container{
				Id: fmt.Sprintf("%064d", page*containers/pages+i), Name: fmt.Sprintf("app-%d-%d", page, i), Status: "running",
				Labels: map[string]string{}, Image: &pluginv1.Image{
					Id: "sha256:1", Name: "library/app", Tag: &pluginv1.Tag{Value: "1.0.0"},
					Registry: &pluginv1.ImageRegistry{Host: "docker.io"},
				},
			}
			for n := range labels {
				c.Labels[fmt.Sprint("label", n)] = strings.Repeat("x", bytes/labels)
			}
			resp.Containers = append(resp.Containers, c)
		}
		if err := out.Send(resp); err != nil {
			return err
		}
	}
	return nil
}

// Watch waits for an answer of the service, or for nothing at all.
func (s watcher) Watch(_ *pluginv1.WatchRequest, out grpc.ServerStreamingServer[pluginv1.WatchResponse]) error {
	s.wire.watches.Add(1)
	defer s.wire.watches.Done()
	ctx := out.Context()
	switch {
	case s.wire.has("floods"):
		for n := range 100_000 {
			e := &pluginv1.WatchResponse{ContainerId: fmt.Sprint(n), Action: "status", Status: "running"}
			if err := out.Send(e); err != nil {
				return err
			}
		}
		return status.Error(codes.Internal, "100000 events were sent")
	case s.wire.has("no-events"):
		return status.Error(codes.Unimplemented, "no events")
	case s.wire.has("forgets"):
		return status.Error(codes.FailedPrecondition, "not configured")
	case s.wire.has("stumbles"):
		return status.Error(codes.Internal, "nil pointer")
	case s.wire.has("clings-to-events"):
		ctx = context.WithoutCancel(ctx)
	case s.wire.has("waits-forever"):
		for { // a select without cases ends a program without cgo as a deadlock
			time.Sleep(time.Hour)
		}
	case s.wire.has("waits-for-shutdown"):
		<-s.wire.ended
		return ctx.Err()
	case s.wire.has("waits"):
		<-ctx.Done()
		return ctx.Err()
	}
	return s.wire.send(ctx)
}
