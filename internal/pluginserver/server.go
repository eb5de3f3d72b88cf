// Package pluginserver is the plugin's side of the plugin protocol: it serves the
// instances of a bundle over gRPC.
package pluginserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Server serves a bundle. It implements the service of every kind; which
// of them are registered depends on what the bundle holds.
type Server struct {
	pluginv1.UnimplementedComponentServer
	pluginv1.UnimplementedWatcherServer
	pluginv1.UnimplementedRegistryServer
	pluginv1.UnimplementedTriggerServer

	bundle    Bundle
	log       hclog.Logger
	create    map[typeKey]func(sdk.Env, map[string]any) (any, error)
	instances *instances
	receivers sync.WaitGroup // of the messages to subscribers and updaters
	counts    atomic.Bool    // a registry of this process has counted a request
}

// New returns a server of b that logs to log. It refuses a bundle with two types
// of one kind and name.
func New(b Bundle, log hclog.Logger) (*Server, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	s := &Server{
		bundle:    b,
		log:       log,
		create:    map[typeKey]func(sdk.Env, map[string]any) (any, error){},
		instances: &instances{log: log, all: map[string]*instance{}},
	}
	for _, t := range b.Watchers {
		s.create[typeKey{t.Kind, t.Name}] = func(e sdk.Env, o map[string]any) (any, error) { return t.New(e, o) }
	}
	for _, t := range b.Registries {
		s.create[typeKey{t.Kind, t.Name}] = func(e sdk.Env, o map[string]any) (any, error) { return t.New(e, o) }
	}
	for _, t := range b.Triggers {
		s.create[typeKey{t.Kind, t.Name}] = func(e sdk.Env, o map[string]any) (any, error) { return t.New(e, o) }
	}
	return s, nil
}

// Options are what the server needs besides the options that go-plugin sets.
func (s *Server) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		// One request carries all containers of a batch; the host sends without a limit too.
		grpc.MaxRecvMsgSize(math.MaxInt32),
		// There is one connection, over a local socket: large buffers would be idle memory.
		grpc.ReadBufferSize(8 << 10),
		grpc.WriteBufferSize(8 << 10),
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
	}
}

// Register adds the services of the bundle to r.
func (s *Server) Register(r grpc.ServiceRegistrar) {
	pluginv1.RegisterComponentServer(r, s)
	if len(s.bundle.Watchers) > 0 {
		pluginv1.RegisterWatcherServer(r, s)
	}
	if len(s.bundle.Registries) > 0 {
		pluginv1.RegisterRegistryServer(r, s)
	}
	if len(s.bundle.Triggers) > 0 {
		pluginv1.RegisterTriggerServer(r, s)
	}
}

// Close releases every instance and waits for what still receives messages,
// until ctx ends. The calls must have ended or end with their context.
func (s *Server) Close(ctx context.Context) {
	s.instances.closeAll(ctx)
	if ctx.Err() == nil {
		s.receivers.Wait() // their calls are over
	}
}

// Serve serves b to every client of l, in this process, until ctx ends: running
// calls are then cancelled and waited for, and every instance is closed. It is
// for agents and tests; a plugin's process is served by go-plugin.
func Serve(ctx context.Context, l net.Listener, b Bundle, log hclog.Logger, more ...grpc.ServerOption) error {
	s, err := New(b, log)
	if err != nil {
		return err
	}
	g := grpc.NewServer(slices.Concat(s.Options(), []grpc.ServerOption{grpc.WaitForHandlers(true)}, more)...)
	s.Register(g)
	stop := context.AfterFunc(ctx, g.Stop)
	defer stop()
	err = g.Serve(l)
	if errors.Is(err, grpc.ErrServerStopped) { // ctx ended before it had begun
		err = nil
	}
	s.Close(context.WithoutCancel(ctx))
	return err
}

func (s *Server) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	resp := &pluginv1.DescribeResponse{Version: s.bundle.Version, SdkVersion: sdk.Version}
	for _, t := range s.bundle.Types() {
		resp.Types = append(resp.Types, protocol.EncodeType(t))
	}
	return resp, nil
}

func (s *Server) Configure(ctx context.Context, req *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	create, known := s.create[typeKey{kind.Kind(req.GetKind()), req.GetType()}]
	if !known {
		return nil, sdk.Invalid("type", "this plugin has no %s type %q", req.GetKind(), req.GetType())
	}
	var warned warnings
	impl, err := create(s.env(req.GetInstance(), &warned), req.GetOptions().AsMap())
	resp := &pluginv1.ConfigureResponse{Warnings: warned.end()}
	if err != nil {
		return nil, err
	}
	if r, ok := impl.(registry.Registry); ok {
		resp.Hosts = protocol.EncodeHosts(r.Hosts())
	}
	if req.GetValidateOnly() || ctx.Err() != nil {
		return resp, closeImpl(impl)
	}
	s.instances.put(req.GetInstance(), impl)
	return resp, nil
}

func (s *Server) env(id string, warned *warnings) sdk.Env {
	agent := "dogwatch"
	if s.bundle.Version != "" {
		agent += "/" + s.bundle.Version
	}
	return sdk.Env{
		Instance:  id,
		Name:      id[strings.LastIndexByte(id, '.')+1:],
		Log:       s.log.Named(id),
		UserAgent: agent,
		Warn:      warned.add,
	}
}

func (s *Server) Release(ctx context.Context, req *pluginv1.ReleaseRequest) (*pluginv1.ReleaseResponse, error) {
	return &pluginv1.ReleaseResponse{}, s.instances.release(ctx, req.GetInstance())
}

func (s *Server) Probe(ctx context.Context, req *pluginv1.ProbeRequest) (*pluginv1.ProbeResponse, error) {
	return answering(s, req, func(p sdk.Prober) (*pluginv1.ProbeResponse, error) {
		found, err := p.Probe(ctx, protocol.DecodeProbe(req))
		return protocol.EncodeProbed(found), err
	})
}

// warnings collects the warnings of an instance while it is created.
type warnings struct {
	mu    sync.Mutex
	list  []string
	ended bool
}

func (w *warnings) add(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.list = append(w.list, message)
	}
}

func (w *warnings) end() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	return w.list
}

// serving runs call with the instance id as a T. It counts as a call of the
// instance until it returns.
func serving[T any](s *Server, id string, call func(*instance, T) error) error {
	i, err := s.instances.use(id)
	if err != nil {
		return err
	}
	defer s.instances.done(i)
	impl, ok := i.impl.(T)
	if !ok {
		return fmt.Errorf("%s: %w by this type", id, sdk.ErrUnsupported)
	}
	return call(i, impl)
}

// answering is serving for a call with one response.
func answering[T, R any](
	s *Server, req interface{ GetInstance() string }, call func(T) (R, error),
) (resp R, err error) {
	err = serving(s, req.GetInstance(), func(_ *instance, impl T) error {
		resp, err = call(impl)
		return err
	})
	return resp, err
}
