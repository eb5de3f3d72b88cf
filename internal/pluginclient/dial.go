package pluginclient

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

const (
	// buffer is that of reads and writes: there is one connection, over a local socket.
	buffer = 8 << 10
	// window is how much of a stream waits for the host to take it, and of all streams in transit,
	// in bytes. gRPC would let it grow to 16 MiB for each (google.golang.org/grpc/internal/transport,
	// bdpLimit); a plugin that sends faster than the host takes waits.
	window = 256 << 10
	// maxHeader bounds headers and trailers, with the text and the details of an error, in bytes.
	maxHeader = 256 << 10
	// broker is a stream of go-plugin in which a plugin announces connections of its own. There are none.
	broker = "/plugin.GRPCBroker/StartStream"
)

// DialOptions are those of a connection with a plugin.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithReadBufferSize(buffer), grpc.WithWriteBufferSize(buffer),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithMaxHeaderListSize(maxHeader),
		// What go-plugin itself calls; a Client has bounds of its own.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(protocol.MaxComponentMessage)),
		grpc.WithChainStreamInterceptor(withoutBroker),
	}
}

// withoutBroker refuses to open the broker's stream: go-plugin starts a goroutine for each announcement.
func withoutBroker(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	next grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if method == broker {
		return nil, status.Error(codes.Unimplemented, "this host takes no connections of plugins")
	}
	return next(ctx, desc, cc, method, opts...)
}
