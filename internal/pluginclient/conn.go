package pluginclient

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// conn sees every call of the client: it sees to it that requests can be encoded and that answers
// stay within their bounds, turns statuses back into errors and counts what registries requested.
type conn struct {
	grpc.ClientConnInterface
	held *protocol.Held
	gone *gone
}

// gone is what is done with the error of a call during which the plugin exited.
type gone struct{ explain func(error) error }

// decode returns the error of a call that ended with err: why its answer was refused, or that of its status.
func (g *gone) decode(ctx context.Context, answer *protocol.Answer, err error) error {
	if err == nil {
		return nil
	}
	if refused := answer.Refused(err); refused != nil {
		return refused
	}
	err = protocol.DecodeError(ctx, err)
	if g.explain != nil && errors.Is(err, protocol.ErrGone) {
		return g.explain(err)
	}
	return err
}

func (c conn) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	protocol.MakeValid(req.(proto.Message))
	if strings.HasPrefix(method, protocol.RegistryService) {
		var trailer metadata.MD
		opts = append(opts, grpc.Trailer(&trailer))
		defer func() { protocol.CountRequests(ctx, trailer) }()
	}
	answer := protocol.NewAnswer(method, c.held)
	defer answer.Release()
	err := c.ClientConnInterface.Invoke(ctx, method, req, resp, append(opts, bounded(answer)...)...)
	return c.gone.decode(ctx, answer, err)
}

func (c conn) NewStream(
	ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	answer := protocol.NewAnswer(method, c.held)
	s, err := c.ClientConnInterface.NewStream(ctx, desc, method, append(opts, bounded(answer)...)...)
	counted := strings.HasPrefix(method, protocol.RegistryService)
	return clientStream{s, ctx, answer, c.gone, counted}, c.gone.decode(ctx, answer, err)
}

// bounded are the options of a call whose answer is checked before it is decoded.
func bounded(answer *protocol.Answer) []grpc.CallOption {
	return []grpc.CallOption{
		grpc.MaxCallRecvMsgSize(answer.MaxMessage()),
		grpc.ForceCodecV2(codec{encoding.GetCodecV2(encodingproto.Name), answer}),
	}
}

// codec encodes as gRPC does, and decodes an answer within its bounds.
type codec struct {
	encoding.CodecV2
	answer *protocol.Answer
}

func (c codec) Unmarshal(data mem.BufferSlice, m any) error {
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	return c.answer.Unmarshal(buffer.ReadOnlyData(), m.(proto.Message))
}

// clientStream is the stream of a call. It has to be received from until an error where its
// messages have lists.
type clientStream struct {
	grpc.ClientStream
	ctx    context.Context
	answer *protocol.Answer
	gone   *gone
	// counted is true when the end of the stream says which requests the call made.
	counted bool
}

func (s clientStream) SendMsg(m any) error {
	protocol.MakeValid(m.(proto.Message))
	return s.sent(s.ClientStream.SendMsg(m))
}

func (s clientStream) CloseSend() error { return s.sent(s.ClientStream.CloseSend()) }

// sent leaves alone the end of the stream, whose reason RecvMsg returns.
func (s clientStream) sent(err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	return protocol.DecodeError(s.ctx, err)
}

func (s clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil {
		return nil
	}
	s.answer.Release()
	if s.counted {
		protocol.CountRequests(s.ctx, s.Trailer())
	}
	if errors.Is(err, io.EOF) { // which is no failure
		return err
	}
	return s.gone.decode(s.ctx, s.answer, err)
}
