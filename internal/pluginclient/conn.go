package pluginclient

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// conn sees every call of the client: it sees to it that requests can be
// encoded and turns statuses back into errors.
type conn struct{ grpc.ClientConnInterface }

func (c conn) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	protocol.MakeValid(req.(proto.Message))
	return protocol.DecodeError(ctx, c.ClientConnInterface.Invoke(ctx, method, req, resp, opts...))
}

func (c conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	return clientStream{s, ctx}, protocol.DecodeError(ctx, err)
}

type clientStream struct {
	grpc.ClientStream
	ctx context.Context
}

func (s clientStream) SendMsg(m any) error {
	protocol.MakeValid(m.(proto.Message))
	return s.wrap(s.ClientStream.SendMsg(m))
}

func (s clientStream) CloseSend() error { return s.wrap(s.ClientStream.CloseSend()) }

func (s clientStream) RecvMsg(m any) error { return s.wrap(s.ClientStream.RecvMsg(m)) }

// wrap leaves alone the end of the stream, which is no failure.
func (s clientStream) wrap(err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	return protocol.DecodeError(s.ctx, err)
}
