package plugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/pluginserver"
	"github.com/dogwatch/dogwatch/internal/protocol"
)

const (
	// parentPoll is how often a plugin checks that its host still runs.
	parentPoll = time.Second
	// closeGrace is how long instances may take to close when the host stops
	// the plugin; the host kills it after two seconds.
	closeGrace = 1500 * time.Millisecond
)

// Serve serves b to the host that started this process and blocks until the
// host stops it or exits. Started by hand, it explains itself on stderr and exits with status 1.
//
// The process logs through sdk.Env.Log; what is printed to stdout and stderr
// reaches the host as well, but must not be printed before Serve is called.
func Serve(b Bundle) {
	handshake := protocol.Handshake()
	if os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		explain(os.Stderr, filepath.Base(os.Args[0]), b)
		os.Exit(1)
	}
	// Other plugins run as the same user.
	if err := protectMemory(); err != nil {
		fmt.Fprintln(os.Stderr, "protect the memory of this process:", err)
	}
	// The JSON form on the real stderr is what go-plugin's host side reads back.
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: os.Stderr, JSONFormat: true})
	s, err := pluginserver.New(pluginserver.Bundle(b), log)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if orphaned(ctx, os.Getppid) {
			os.Exit(1)
		}
	}()

	memory := newIdleTimer(debug.FreeOSMemory)
	defer memory.stop()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: protocol.Plugins(&adapter{server: s}),
		Logger:           log,
		TLSProvider:      processTLS,
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(slices.Concat(opts, s.Options(), memory.options())...)
		},
	})
	closing, stop := context.WithTimeout(ctx, closeGrace)
	s.Close(closing)
	stop()
	cancel()
	<-gone
}

// orphaned waits until the process has another parent than at first, or until
// ctx ends: a host that was killed cannot stop its plugins, and not
// every system does.
func orphaned(ctx context.Context, ppid func() int) bool {
	first := ppid()
	tick := time.NewTicker(parentPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			if ppid() != first {
				return true
			}
		}
	}
}

// explain writes what the plugin is for, for a user who started it by hand.
func explain(w io.Writer, name string, b Bundle) {
	fmt.Fprintf(w, "%s is a Dogwatch plugin", name)
	if b.Version != "" {
		fmt.Fprintf(w, ", version %s", b.Version)
	}
	fmt.Fprint(w,
		". Dogwatch starts it by itself:\nput the file into the folder that plugins.dir names, and configure what it offers:\n")
	for _, t := range b.Types() {
		fmt.Fprintf(w, "  %s.%s: %s\n", t.Kind, t.Name, t.Summary)
		for _, o := range t.Options {
			if o.Required {
				fmt.Fprintf(w, "    %s: %s\n", o.Name, strings.TrimSpace(o.Help))
			}
		}
	}
}
