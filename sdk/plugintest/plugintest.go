// Package plugintest serves a bundle inside a test, over real gRPC: what a
// test calls crosses the wire as it does between the host and a plugin process.
//
//	client, log := plugintest.Serve(t, plugin.Bundle{Triggers: []trigger.Type{file.Type()}})
//	plugintest.Configure(t, client, file.Type().Type, "main", map[string]any{"path": path})
//	err := client.Trigger("trigger.file.main").Run(t.Context(), request)
//
// The conformance kits watchertest, registrytest and triggertest are made of it.
package plugintest

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
)

// patience is how long a cancelled call may take to return.
const patience = 5 * time.Second

// Serve serves b in this process and returns a client of it and the log that
// the bundle writes. Both end with the test: running calls are cancelled, and
// every instance is closed before Serve's clean-up returns.
func Serve(t testing.TB, b plugin.Bundle) (*pluginclient.Client, *Log) {
	t.Helper()
	log := &Log{}
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: log, JSONFormat: true})
	listener := bufconn.Listen(1 << 16)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- plugin.ServeOn(ctx, listener, b, logger) }()

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
		case <-time.After(patience):
			t.Error("the bundle does not stop: a call goes on after its context has ended")
		}
	})
	return pluginclient.NewClient(conn), log
}

// ID returns the id of the instance of typ that is called name: "trigger.file.main".
func ID(typ kind.Type, name string) string { return string(typ.Kind) + "." + typ.Name + "." + name }

// Configure does what the host does with an operator's options: it checks them
// against the type's schema, applies defaults and creates the instance. It fails the test when that fails.
func Configure(t testing.TB, c *pluginclient.Client, typ kind.Type, name string, options map[string]any) pluginclient.Configured {
	t.Helper()
	configured, err := Try(t.Context(), c, typ, name, options)
	if err != nil {
		t.Fatalf("configure %s: %v", ID(typ, name), err)
	}
	return configured
}

// Log is what a bundle has logged, as lines of JSON.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns everything logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Lines returns the lines logged so far.
func (l *Log) Lines() []string {
	text := strings.TrimSuffix(l.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
