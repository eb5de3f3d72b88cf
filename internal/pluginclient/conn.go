package pluginclient

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// conn sees every call of the client: it sees to it that requests can be
// encoded, turns statuses back into errors and counts what registries requested.
type conn struct{ grpc.ClientConnInterface }

func (c conn) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	protocol.MakeValid(req.(proto.Message))
	if strings.HasPrefix(method, protocol.RegistryService) {
		var trailer metadata.MD
		opts = append(opts, grpc.Trailer(&trailer))
		defer func() { protocol.CountRequests(ctx, trailer) }()
	}
	return protocol.DecodeError(ctx, c.ClientConnInterface.Invoke(ctx, method, req, resp, opts...))
}

func (c conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	return clientStream{s, ctx, strings.HasPrefix(method, protocol.RegistryService)}, protocol.DecodeError(ctx, err)
}

type clientStream struct {
	grpc.ClientStream
	ctx context.Context
	// counted is true when the end of the stream says which requests the call made.
	counted bool
}

func (s clientStream) SendMsg(m any) error {
	protocol.MakeValid(m.(proto.Message))
	return s.wrap(s.ClientStream.SendMsg(m))
}

func (s clientStream) CloseSend() error { return s.wrap(s.ClientStream.CloseSend()) }

func (s clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil && s.counted {
		protocol.CountRequests(s.ctx, s.Trailer())
	}
	return s.wrap(err)
}

// wrap leaves alone the end of the stream, which is no failure.
func (s clientStream) wrap(err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	return protocol.DecodeError(s.ctx, err)
}
