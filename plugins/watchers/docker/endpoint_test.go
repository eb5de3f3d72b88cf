package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestLocate(t *testing.T) {
	ca := newAuthority(t)
	files := Connection{CAFile: ca.file, Port: 2375}
	for _, c := range []struct {
		name       string
		options    Connection
		dockerHost string
		want       string
		warning    string
	}{
		{"nothing", Connection{}, "", "unix:///var/run/docker.sock", ""},
		{"default", Connection{Socket: defaultSocket, Port: 2375}, "", "unix:///var/run/docker.sock", ""},
		{"path", Connection{Socket: "/run/podman.sock"}, "", "unix:///run/podman.sock", ""},
		{"unix", Connection{Socket: "unix:///run/podman.sock"}, "", "unix:///run/podman.sock", ""},
		{"tcp", Connection{Socket: "tcp://proxy:1234"}, "", "http://proxy:1234", ""},
		{"tcp without port", Connection{Socket: "tcp://proxy", Port: 2375}, "", "http://proxy:2375", ""},
		{"http", Connection{Socket: "http://proxy/docker/"}, "", "http://proxy:2375/docker", ""},
		{"https", Connection{Socket: "https://proxy", Port: 2375}, "", "https://proxy:2376", ""},
		{"https with port", Connection{Socket: "https://proxy:443"}, "", "https://proxy:443", ""},
		{"upper case", Connection{Socket: "TCP://proxy:1"}, "", "http://proxy:1", ""},
		{"host", Connection{Host: "proxy", Port: 2375, Socket: defaultSocket}, "", "http://proxy:2375", ""},
		{"host and port", Connection{Host: "proxy", Port: 1234}, "", "http://proxy:1234", ""},
		{"host with port", Connection{Host: "proxy:1234", Port: 2375}, "", "http://proxy:1234", ""},
		{"host with scheme", Connection{Host: "https://h", Port: 2375}, "", "https://h:2376", ""},
		{"host with tcp", Connection{Host: "tcp://h:1"}, "", "http://h:1", ""},
		{"IPv4", Connection{Host: "192.0.2.1", Port: 2375}, "", "http://192.0.2.1:2375", ""},
		{"IPv6", Connection{Host: "2001:db8::1", Port: 2375}, "", "http://[2001:db8::1]:2375", ""},
		{"IPv6 in brackets", Connection{Host: "[::1]:99"}, "", "http://[::1]:99", ""},
		{"host and socket", Connection{Host: "h", Socket: "/x", Port: 1}, "", "http://h:1", "socket has no effect"},
		{"CA", Connection{Host: "h", CAFile: files.CAFile, Port: 2375}, "", "https://h:2376", ""},
		{"CA and port", Connection{Host: "h", CAFile: files.CAFile, Port: 4}, "", "https://h:4", ""},
		{"CA and tcp", Connection{Socket: "tcp://h:2375", CAFile: files.CAFile}, "", "https://h:2375", ""},
		{"CA and unix", Connection{CAFile: files.CAFile}, "", "unix:///var/run/docker.sock", "no effect on a unix socket"},
		{"DOCKER_HOST", Connection{Socket: defaultSocket, Port: 2375}, "tcp://env:1", "http://env:1", ""},
		{"DOCKER_HOST and socket", Connection{Socket: "/x", Port: 2375}, "tcp://env:1", "unix:///x", ""},
		{"ssh", Connection{Host: "ssh://pi@nas"}, "", "ssh://pi@nas/var/run/docker.sock", ""},
		{"ssh to a socket", Connection{Socket: "ssh://pi@nas:2222/run/podman.sock"}, "", "ssh://pi@nas:2222/run/podman.sock", ""},
		{"ssh with port", Connection{Host: "ssh://pi@nas/", Port: 2222}, "", "ssh://pi@nas:2222/var/run/docker.sock", ""},
		{"ssh to IPv6", Connection{Host: "ssh://pi@[2001:db8::1]", Port: 2375}, "", "ssh://pi@[2001:db8::1]/var/run/docker.sock", ""},
		{"ssh and TLS", Connection{Host: "ssh://pi@nas", CAFile: ca.file}, "", "ssh://pi@nas/var/run/docker.sock", "ssh.keyfile"},
		{"no ssh", Connection{Host: "nas", SSH: SSH{Jump: []string{"b"}}}, "", "http://nas:2375", "ssh.… have no effect"},
		{"DOCKER_HOST and host", Connection{Host: "h", Port: 2375}, "tcp://env:1", "http://h:2375", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, warnings, err := locate(c.options, c.dockerHost)
			if err != nil || at.String() != c.want {
				t.Errorf("%s, %v; want %s", at, err, c.want)
			}
			if got := strings.Join(warnings, "; "); !strings.Contains(got, c.warning) || (c.warning == "") != (got == "") {
				t.Errorf("warning %q, want %q", got, c.warning)
			}
			if secure := strings.HasPrefix(c.want, "https"); secure != (at.TLS != nil) {
				t.Errorf("TLS %v", at.TLS)
			}
		})
	}
}

func TestLocateRejects(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "client")
	_, otherKey := ca.issue(t, "other")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	check(t, os.WriteFile(empty, []byte("this-is-not-pem"), 0o600))
	for name, c := range map[string]struct {
		options Connection
		field   string
		text    string
	}{
		"ssh without user":    {Connection{Socket: "ssh://h"}, "socket", "names no user: write it like ssh://pi@nas"},
		"ssh without host":    {Connection{Host: "ssh://"}, "host", "write it like ssh://pi@nas"},
		"ssh with password":   {Connection{Host: "ssh://pi:secret-password@h"}, "host", "but no password"},
		"ssh to a long path":  {Connection{Host: "ssh://pi@h/" + strings.Repeat("x", 107)}, "host", "107"},
		"no such ssh key":     {Connection{Host: "ssh://pi@h", SSH: SSH{KeyFile: "/none"}}, "ssh.keyfile", "no such file"},
		"no ssh key":          {Connection{Host: "ssh://pi@h", SSH: SSH{KeyFile: empty}}, "ssh.keyfile", "is no private key"},
		"no such known hosts": {Connection{Host: "ssh://pi@h", SSH: SSH{KnownHosts: "/none"}}, "ssh.knownhosts", "no such file"},
		"jump to a path":      {Connection{Host: "ssh://pi@h", SSH: SSH{Jump: []string{"a@b/c"}}}, "ssh.jump", "is not a host"},
		"jump with password": {Connection{Host: "ssh://pi@h", SSH: SSH{Jump: []string{"a:secret-password@b"}}}, "ssh.jump",
			"has a password"},
		"npipe":                 {Connection{Host: "npipe:////./pipe/docker_engine"}, "host", "unix://"},
		"long path":             {Connection{Socket: "/" + strings.Repeat("x", 107)}, "socket", "107"},
		"no path":               {Connection{Socket: "unix://"}, "socket", "path"},
		"no host":               {Connection{Socket: "tcp://"}, "socket", "engine.example.org"},
		"only a port":           {Connection{Host: ":2375"}, "host", "engine.example.org"},
		"bad port":              {Connection{Host: "h:port"}, "host", "engine.example.org"},
		"space":                 {Connection{Host: "a b"}, "host", "engine.example.org"},
		"password":              {Connection{Host: "https://user:secret-password@h"}, "host", "certfile"},
		"query":                 {Connection{Host: "http://h?x=1"}, "host", "certfile"},
		"plain and TLS":         {Connection{Host: "http://h", CAFile: ca.file}, "host", "https://"},
		"certificate alone":     {Connection{Host: "h", CertFile: cert}, "keyfile", "required"},
		"key alone":             {Connection{Host: "h", KeyFile: key}, "certfile", "required"},
		"no such CA":            {Connection{Host: "h", CAFile: "/none/ca.pem"}, "cafile", "no such file"},
		"no such certificate":   {Connection{Host: "h", CertFile: "/none/cert.pem", KeyFile: key}, "certfile", "no such file"},
		"no such key":           {Connection{Host: "h", CertFile: cert, KeyFile: "/none/key.pem"}, "keyfile", "no such file"},
		"CA is no certificate":  {Connection{Host: "h", CAFile: empty}, "cafile", "no PEM certificate"},
		"CA is a directory":     {Connection{Host: "h", CAFile: t.TempDir()}, "cafile", "not a PEM file"},
		"another's key":         {Connection{Host: "h", CertFile: cert, KeyFile: otherKey}, "certfile", "do not make a pair"},
		"key is no key":         {Connection{Host: "h", CertFile: cert, KeyFile: empty}, "certfile", "do not make a pair"},
		"certificate for a key": {Connection{Host: "h", CertFile: key, KeyFile: key}, "certfile", "do not make a pair"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := locate(c.options, "")
			var invalid *sdk.InvalidError
			if !errors.As(err, &invalid) || invalid.Fields[0].Field != c.field || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("%v; want %s: …%s…", err, c.field, c.text)
			}
			for _, secret := range append(secrets(t, key, otherKey, empty), "secret-password") {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
		})
	}
}

func TestDockerHost(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://env.example:1")
	d := watch(t, Options{Connection: Connection{Socket: defaultSocket, Port: plainPort}})
	if d.engine.Endpoint.String() != "http://env.example:1" {
		t.Errorf("at %s", d.engine.Endpoint)
	}
	if d := watch(t, Options{Connection: Connection{Socket: "/explicit"}}); d.engine.Endpoint.String() != "unix:///explicit" {
		t.Errorf("at %s", d.engine.Endpoint)
	}
	t.Setenv("DOCKER_HOST", "ssh://pi@env.example")
	if d := watch(t, Options{}); d.engine.Endpoint.String() != "ssh://pi@env.example/var/run/docker.sock" {
		t.Errorf("at %s", d.engine.Endpoint)
	}
	_, _, err := locate(Connection{}, "ssh://env.example")
	if err == nil || !strings.Contains(err.Error(), "DOCKER_HOST") || !strings.Contains(err.Error(), "names no user") {
		t.Error(err)
	}
}

// secrets are lines of files that no text may hold.
func secrets(t *testing.T, paths ...string) []string {
	t.Helper()
	var out []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		check(t, err)
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
				out = append(out, line)
			}
		}
	}
	return out
}

func TestTLS(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	clientCert, clientKey := ca.issue(t, "client")
	foreignCert, foreignKey := stranger.issue(t, "client")
	e := populated(t, enginesim.Config{APIVersion: "1.41"})
	plain := serveTCP(t, e, nil)
	open := serveTCP(t, e, &tls.Config{Certificates: []tls.Certificate{ca.server}})
	mutual := serveTCP(t, e, &tls.Config{
		Certificates: []tls.Certificate{ca.server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool,
	})
	for name, c := range map[string]struct {
		options Connection
		kind    error // nil: it works
		text    string
	}{
		"CA only":            {Connection{Host: open, CAFile: ca.file}, nil, ""},
		"https and CA":       {Connection{Socket: "https://" + open, CAFile: ca.file}, nil, ""},
		"client certificate": {Connection{Host: mutual, CAFile: ca.file, CertFile: clientCert, KeyFile: clientKey}, nil, ""},
		"wrong CA": {Connection{Host: open, CAFile: stranger.file}, sdk.ErrUnavailable,
			"not signed by a known CA: set cafile"},
		"system CAs": {Connection{Host: "https://" + open}, sdk.ErrUnavailable,
			"not signed by a known CA: set cafile"},
		"no client certificate": {Connection{Host: mutual, CAFile: ca.file}, sdk.ErrUnauthorized, "set certfile and keyfile"},
		"foreign certificate": {Connection{Host: mutual, CAFile: ca.file, CertFile: foreignCert, KeyFile: foreignKey},
			sdk.ErrUnauthorized, "set certfile and keyfile"},
		"another name": {Connection{Host: strings.Replace(open, "127.0.0.1", "localhost", 1), CAFile: ca.file},
			sdk.ErrUnavailable, "certificate is for another name"},
		"TLS to a plain engine": {Connection{Host: plain, CAFile: ca.file}, sdk.ErrUnavailable,
			"speaks without TLS on that port"},
		"plain to a TLS engine": {Connection{Host: open}, sdk.ErrUnavailable, "wants TLS: set cafile"},
	} {
		t.Run(name, func(t *testing.T) {
			log := &lines{written: make(chan struct{})}
			d, err := New(sdk.Env{
				Name: "local", Log: hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: log}),
				Warn: func(string) {},
			}, Options{Connection: c.options})
			check(t, err)
			defer d.Close()
			got, err := d.List(t.Context())
			message := ""
			switch {
			case c.kind == nil:
				check(t, err)
				if len(got) != 2 {
					t.Errorf("%d containers", len(got))
				}
			default:
				explains(t, err, c.kind, d.engine.Endpoint.Address, c.text)
				message = err.Error()
			}
			for _, secret := range secrets(t, clientKey, foreignKey) {
				if strings.Contains(log.text.String()+message, secret) {
					t.Error("the key is shown")
				}
			}
		})
	}
}

func serveTCP(t *testing.T, e *enginesim.Engine, config *tls.Config) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	address = l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	s := e.Serve(l)
	t.Cleanup(func() { check(t, s.Close()) })
	return address
}

// authority is a CA and what it signed.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
	pool        *x509.CertPool
	server      tls.Certificate // for 127.0.0.1
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(t, err)
	a := &authority{key: key, file: filepath.Join(t.TempDir(), "ca.pem"), pool: x509.NewCertPool()}
	a.certificate, err = x509.ParseCertificate(der)
	check(t, err)
	a.pool.AddCert(a.certificate)
	writePEM(t, a.file, "CERTIFICATE", der)
	a.server, err = tls.LoadX509KeyPair(a.issue(t, "server"))
	check(t, err)
	return a
}

// issue makes a certificate and its key, and returns their files.
func (a *authority) issue(t *testing.T, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, &key.PublicKey, a.key)
	check(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem")
	writePEM(t, certFile, "CERTIFICATE", der)
	writePEM(t, keyFile, "PRIVATE KEY", private)
	return certFile, keyFile
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	check(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
