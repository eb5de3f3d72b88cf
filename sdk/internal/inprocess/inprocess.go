// Package inprocess serves a bundle inside a test, over real gRPC: what a test
// calls crosses the wire as it does between the host and a plugin process.
package inprocess

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/pluginserver"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
)

// maxStop is how long a cancelled call may take to return.
const maxStop = 5 * time.Second

// Serve serves b in this process and returns a client of it. What the bundle
// logs is written to log as lines of JSON. Both end with the test: running calls
// are cancelled, and every instance is closed before Serve's clean-up returns.
func Serve(t testing.TB, b plugin.Bundle, log io.Writer) *pluginclient.Client {
	t.Helper()
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: log, JSONFormat: true})
	listener := bufconn.Listen(1 << 16)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- pluginserver.Serve(ctx, listener, pluginserver.Bundle(b), logger) }()

	conn, err := grpc.NewClient("passthrough:///bundle",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatalf("connect to the bundle: %v", err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close the connection: %v", err)
		}
		stop()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("serve the bundle: %v", err)
			}
		case <-time.After(maxStop):
			t.Error("the bundle does not stop: a call goes on after its context has ended")
		}
	})
	return pluginclient.NewClient(conn)
}

// ID returns the id of the instance of typ that is called name: "trigger.file.main".
func ID(typ kind.Type, name string) string { return string(typ.Kind) + "." + typ.Name + "." + name }

// Configure does what the host does with an operator's options: it checks them
// against the type's schema, applies defaults and creates the instance. The error
// is the one that the operator would see.
func Configure(
	ctx context.Context, c *pluginclient.Client, typ kind.Type, name string, options map[string]any,
) (pluginclient.Configured, error) {
	values, problems, unknown := typ.Options.Resolve(options)
	for _, name := range unknown {
		problems = append(problems, sdk.FieldError{Field: name, Detail: "unknown option"})
	}
	if len(problems) > 0 {
		return pluginclient.Configured{}, &sdk.InvalidError{Fields: problems}
	}
	return c.Configure(ctx, pluginclient.Instance{ID: ID(typ, name), Kind: typ.Kind, Type: typ.Name, Options: values})
}
