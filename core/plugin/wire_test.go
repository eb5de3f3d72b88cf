//go:build unix

package plugin

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
	"path/filepath"
	"slices"
	"strings"
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

// wirePlugin puts a plugin into dir that is written as in another language: with
// gRPC alone, from what docs/plugins-other-languages.md says. how are its faults and habits.
func wirePlugin(t testing.TB, dir, name, how string) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	script := fmt.Sprintf("#!/bin/sh\nTEST_WIRE='%s' exec '%s'\n", how, exe)
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
}

// wire is such a plugin. It holds the trigger type "wire".
type wire struct {
	pluginv1.UnimplementedComponentServer
	pluginv1.UnimplementedTriggerServer
	grpc_health_v1.UnimplementedHealthServer
	how     []string
	ended   chan struct{}
	options map[string]any // of the instance; nil before it is configured
}

func (w *wire) is(habit string) bool { return slices.Contains(w.how, habit) }

func wireMain(how []string) int {
	w := &wire{how: how, ended: make(chan struct{})}
	if os.Getenv("DOGWATCH_PLUGIN") != "6f3d0c1a-watch" {
		return 1
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
	if !w.is("no-health") {
		grpc_health_v1.RegisterHealthServer(s, w)
	}
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: w.shutdown}}}, w)
	line := "1|1|unix|" + path + "|grpc" + sixth
	if w.is("greets") {
		line = "hello\n" + line
	}
	if w.is("protocol-2") {
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
	switch {
	case w.is("no-tls"):
		return nil, "", nil
	case !w.is("auto-mtls"):
		cert, err := tls.X509KeyPair([]byte(certPEM), []byte(os.Getenv("DOGWATCH_PLUGIN_KEY")))
		config.Certificates = []tls.Certificate{cert}
		return config, "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	name := "localhost"
	if w.is("other-name") {
		name = "example.org"
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	encoding := base64.RawStdEncoding
	if w.is("padded") {
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
	if !w.is("stays") {
		close(w.ended)
	}
	return &emptypb.Empty{}, dec(&emptypb.Empty{})
}

func (w *wire) Check(_ context.Context, req *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if req.GetService() != "plugin" {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func (w *wire) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	var types []*pluginv1.TypeInfo
	if !w.is("holds-nothing") {
		types = []*pluginv1.TypeInfo{{Kind: "trigger", Type: "wire", Summary: strings.Join(os.Environ(), "\n"), Delivery: "at-most-once"}}
	}
	return &pluginv1.DescribeResponse{Version: "wire", Types: types}, nil
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
	if !req.GetValidateOnly() {
		w.options = req.GetOptions().AsMap()
	}
	return &pluginv1.ConfigureResponse{Warnings: []string{"of configure"}}, nil
}

func (w *wire) Release(context.Context, *pluginv1.ReleaseRequest) (*pluginv1.ReleaseResponse, error) {
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
	case "log":
		fmt.Fprintln(os.Stderr, rest)
		return nil
	case "answered":
		s, err := status.New(codes.Unavailable, "as asked").WithDetails(&errdetails.ErrorInfo{Domain: "dogwatch", Reason: "ANSWERED", Metadata: map[string]string{"remedy": "ask otherwise"}})
		if err != nil {
			return err
		}
		return s.Err()
	}
	if w.options == nil {
		return status.Error(codes.FailedPrecondition, "not configured")
	}
	for code := codes.Code(0); code <= codes.Unauthenticated; code++ {
		if code.String() == word {
			return status.Error(code, "as asked")
		}
	}
	return nil
}
