// Package wireplugin is a plugin for tests that is written as in another language: with
// gRPC alone, from what docs/plugins-other-languages.md says. It has faults and habits
// as a test wants.
package wireplugin

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// Variable is that which tells the program of a test to be the plugin: its TestMain
// calls Main where it is set.
const Variable = "TEST_WIRE"

// Write puts the plugin into dir, as a script that starts the program of the test. how
// are its faults and habits, separated by spaces. It returns its path.
func Write(t testing.TB, dir, name, how string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return WriteFor(t, exe, dir, name, how)
}

// WriteFor is as Write, for another program that calls Main.
func WriteFor(t testing.TB, exe, dir, name, how string) string {
	t.Helper()
	open(t, exe)
	path := filepath.Join(dir, name)
	script := fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s'\n", Variable, how, exe)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// open lets the users of isolated plugins reach the program of the test, which go test builds in
// a folder that is closed to them.
func open(t testing.TB, exe string) {
	t.Helper()
	temp := os.TempDir()
	for dir := filepath.Dir(exe); strings.HasPrefix(dir, temp+"/"); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.Mode().Perm()&0o011 != 0o011 {
			err = os.Chmod(dir, info.Mode().Perm()|0o011)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Main is the plugin; it returns the exit code.
func Main() int { return wireMain(strings.Fields(os.Getenv(Variable))) }

// wire is such a plugin. It holds the trigger type "wire", or a watcher of that name.
type wire struct {
	pluginv1.UnimplementedComponentServer
	pluginv1.UnimplementedTriggerServer
	grpc_health_v1.UnimplementedHealthServer
	how       []string
	ended     chan struct{}
	described atomic.Int32   // how often it described itself
	options   map[string]any // of the instance; nil before it is configured
	watches   sync.WaitGroup // those under way
}

func (w *wire) has(habit string) bool { return slices.Contains(w.how, habit) }

func wireMain(how []string) int {
	w := &wire{how: how, ended: make(chan struct{})}
	if os.Getenv("DOGWATCH_PLUGIN") != "6f3d0c1a-watch" {
		return 1
	}
	switch {
	case w.has("exits"):
		fmt.Fprintln(os.Stderr, "the lamp is missing")
		return 3
	case w.has("panics"):
		panic("no lamp")
	case w.has("forks"):
		if err := exec.Command("/bin/sleep", "60").Start(); err != nil {
			return 1
		}
	}
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), fmt.Sprintf("wire%d", os.Getpid()))
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	secured, sixth, err := w.tls()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var opts []grpc.ServerOption
	if secured != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(secured)))
	}
	s := grpc.NewServer(opts...)
	pluginv1.RegisterComponentServer(s, w)
	pluginv1.RegisterTriggerServer(s, w)
	pluginv1.RegisterWatcherServer(s, watcher{wire: w})
	if !w.has("no-health") {
		grpc_health_v1.RegisterHealthServer(s, w)
	}
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: w.shutdown}}}, w)
	line := "1|1|unix|" + path + "|grpc" + sixth
	if w.has("greets") {
		line = "hello\n" + line
	}
	if w.has("protocol-2") {
		line = "1|2|unix|" + path + "|grpc"
	}
	fmt.Println(line)
	go func() { _ = s.Serve(l) }()
	<-w.ended
	s.GracefulStop()
	return 0
}

func (w *wire) tls() (*tls.Config, string, error) {
	certPEM := os.Getenv("PLUGIN_CLIENT_CERT")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(certPEM))
	config := &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	if w.has("any-client") {
		config.ClientAuth = tls.NoClientCert
	}
	switch {
	case w.has("no-tls"):
		return nil, "", nil
	case !w.has("auto-mtls"):
		cert, err := tls.X509KeyPair([]byte(certPEM), []byte(os.Getenv("DOGWATCH_PLUGIN_KEY")))
		config.Certificates = []tls.Certificate{cert}
		return config, "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	name := "localhost"
	if w.has("other-name") {
		name = "example.org"
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	encoding := base64.RawStdEncoding
	if w.has("padded") {
		for len(der)%3 == 0 { // so that there is padding
			template.SerialNumber.Lsh(template.SerialNumber, 8)
			if der, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key); err != nil {
				return nil, "", err
			}
		}
		encoding = base64.StdEncoding
	}
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	return config, "|" + encoding.EncodeToString(der), err
}

func (w *wire) shutdown(_ any, _ context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	if !w.has("stays") {
		close(w.ended)
	}
	return &emptypb.Empty{}, dec(&emptypb.Empty{})
}

func (w *wire) Check(
	_ context.Context, req *grpc_health_v1.HealthCheckRequest,
) (*grpc_health_v1.HealthCheckResponse, error) {
	if req.GetService() != "plugin" {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func (w *wire) Describe(_ context.Context, req *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	var types []*pluginv1.TypeInfo
	if !w.has("holds-nothing") {
		types = []*pluginv1.TypeInfo{{
			Kind: "trigger", Type: "wire", Summary: strings.Join(os.Environ(), "\n"), Delivery: "at-most-once",
		}}
	}
	if w.has("serves") {
		types = w.served()
	}
	if w.has("strict") && len(req.ProtoReflect().GetUnknown()) > 0 {
		return nil, status.Error(codes.InvalidArgument, "unknown field")
	}
	if w.described.Add(1) > 1 && w.has("fickle") {
		types[0].Summary = "Something else"
	}
	resp := &pluginv1.DescribeResponse{Version: "wire", Types: types}
	if w.has("as-go-sdk") {
		resp.SdkVersion = "2.1.0"
	}
	return resp, nil
}

func (w *wire) Configure(_ context.Context, req *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	if req.GetOptions().GetFields()["do"].GetStringValue() == "refuse" {
		s, err := status.New(codes.InvalidArgument, "do: must not be refuse").WithDetails(&errdetails.BadRequest{
			FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "do", Description: "must not be refuse"}}})
		if err != nil {
			return nil, err
		}
		return nil, s.Err()
	}
	if w.has("refuses") && req.GetOptions().GetFields()["url"] != nil {
		return nil, status.Error(codes.InvalidArgument, "not this way")
	}
	if w.has("nameless") && req.GetOptions().GetFields()["url"] == nil {
		return nil, status.Error(codes.Internal, "nil pointer")
	}
	if !req.GetValidateOnly() || w.has("keeps") {
		w.options = req.GetOptions().AsMap()
	}
	return &pluginv1.ConfigureResponse{Warnings: []string{"of configure"}}, nil
}

func (w *wire) Release(ctx context.Context, _ *pluginv1.ReleaseRequest) (*pluginv1.ReleaseResponse, error) {
	if w.has("clings") {
		return nil, status.Error(codes.NotFound, "no such instance")
	}
	if w.has("as-go-sdk") {
		over := make(chan struct{})
		go func() { w.watches.Wait(); close(over) }()
		select {
		case <-over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &pluginv1.ReleaseResponse{}, nil
}

// Run does what the delivery's title says.
func (w *wire) Run(req *pluginv1.RunRequest, out grpc.ServerStreamingServer[pluginv1.RunResponse]) error {
	word, rest, _ := strings.Cut(req.GetTitle(), " ")
	switch word {
	case "forget":
		w.options = nil
		return nil
	case "options":
		text, _ := json.Marshal(w.options)
		return status.Error(codes.Internal, string(text))
	case "hang":
		fmt.Fprintln(os.Stderr, "hangs now")
		<-out.Context().Done()
		fmt.Fprintln(os.Stderr, "was cancelled")
		return out.Context().Err()
	case "shout":
		for range 20 {
			if _, err := os.Stdout.WriteString(strings.Repeat("garbage", 10_000)); err != nil {
				return status.Error(codes.Internal, err.Error())
			}
		}
		return nil
	case "fork":
		for range 300 {
			if err := exec.Command("/bin/sleep", "60").Start(); err != nil {
				return status.Error(codes.Internal, err.Error())
			}
		}
		<-out.Context().Done()
		return out.Context().Err()
	case "log":
		fmt.Fprintln(os.Stderr, rest)
		return nil
	case "answered":
		s, err := status.New(codes.Unavailable, "as asked").WithDetails(&errdetails.ErrorInfo{
			Domain: "dogwatch", Reason: "ANSWERED", Metadata: map[string]string{"remedy": "ask otherwise"},
		})
		if err != nil {
			return err
		}
		return s.Err()
	}
	if w.options == nil {
		return status.Error(codes.FailedPrecondition, "not configured")
	}
	if w.has("serves") {
		return w.send(out.Context())
	}
	for code := codes.Code(0); code <= codes.Unauthenticated; code++ {
		if code.String() == word {
			return status.Error(code, "as asked")
		}
	}
	return nil
}
