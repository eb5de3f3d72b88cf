package pluginserver

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
)

// unary and stream see every call of the server: they survive its panics, make
// a status of its error and make its response valid to encode.
func (s *Server) unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (resp any, err error) {
	if !strings.HasPrefix(info.FullMethod, protocol.MethodPrefix) {
		return next(ctx, req)
	}
	defer s.finish(info.FullMethod, &err)
	ctx, report := s.counted(ctx, info.FullMethod)
	defer report(func(md metadata.MD) { _ = grpc.SetTrailer(ctx, md) })
	if resp, err = next(ctx, req); err == nil {
		protocol.MakeValid(resp.(proto.Message))
	}
	return resp, err
}

func (s *Server) stream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) (err error) {
	if !strings.HasPrefix(info.FullMethod, protocol.MethodPrefix) {
		return next(srv, ss)
	}
	defer s.finish(info.FullMethod, &err)
	ctx, report := s.counted(ss.Context(), info.FullMethod)
	defer report(ss.SetTrailer)
	return next(srv, validStream{ss, ctx})
}

// counted returns a context that counts the requests of a call to a registry, and what reports
// them when it ends. A process in which nothing has ever counted a request reports none: its
// registries may make theirs without counting them.
func (s *Server) counted(
	ctx context.Context, method string,
) (counting context.Context, report func(setTrailer func(metadata.MD))) {
	if !strings.HasPrefix(method, protocol.RegistryService) {
		return ctx, func(func(metadata.MD)) {}
	}
	ctx, requests := sdk.CountRequests(ctx)
	return ctx, func(setTrailer func(metadata.MD)) {
		hosts, known := requests.ByHost()
		if known {
			s.counts.Store(true)
		}
		if s.counts.Load() {
			setTrailer(protocol.EncodeRequests(hosts, requests.Load()))
		}
	}
}

// finish ends a call with a status. That of a panic has its text and its place.
func (s *Server) finish(method string, err *error) {
	if p := recover(); p != nil {
		call := strings.ReplaceAll(strings.TrimPrefix(method, protocol.MethodPrefix), "/", ".")
		s.log.Error("panic", "call", call, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = fmt.Errorf("%s panicked: %v (%s); the plugin's log has the stack", call, p, panicPlace())
	}
	if *err != nil {
		*err = protocol.EncodeError(*err).Err()
	}
}

// panicPlace is where the panic was raised that is being recovered, such as "lamp.go:12".
func panicPlace() string {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	raised := false
	for {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if raised && !inRuntime || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		raised = raised || frame.Function == "runtime.gopanic"
	}
}

type validStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s validStream) Context() context.Context { return s.ctx }

func (s validStream) SendMsg(m any) error {
	protocol.MakeValid(m.(proto.Message))
	return s.ServerStream.SendMsg(m)
}
