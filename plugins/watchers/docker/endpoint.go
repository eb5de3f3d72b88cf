package docker

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	defaultSocket = "/var/run/docker.sock"
	// The ports that IANA assigned to the Docker API without and with TLS.
	plainPort = 2375
	tlsPort   = 2376
	// maxSocketPath is what fits the address of a unix socket on Linux, see unix(7).
	maxSocketPath = 107
)

// Connection says where an engine is. An explicit address always
// wins; DOCKER_HOST is read only when neither Host nor another Socket than the default is given.
type Connection struct {
	Socket   string `option:"socket" default:"/var/run/docker.sock" help:"Path of the engine's socket, or its address as unix://, ssh://user@host, tcp://, http://, https:// or docker-context:NAME; DOCKER_HOST replaces the default when it is set"`
	Host     string `option:"host" help:"Name or address of an engine on the network, ssh://user@host, or docker-context:NAME; replaces socket" example:"engine"`
	Port     int    `option:"port" default:"2375" min:"1" max:"65535" help:"Port on host; with TLS the default is 2376, with ssh:// 22"`
	CAFile   string `option:"cafile" help:"File with the CA that signed the engine's certificate (PEM); turns TLS on"`
	CertFile string `option:"certfile" help:"File with the client certificate for the engine (PEM); turns TLS on, needs keyfile"`
	KeyFile  string `option:"keyfile" help:"File with the key of certfile (PEM)"`
	SSH      SSH    `option:"ssh"`

	Proxy *url.URL `option:"proxy,secret,mask=url" help:"Proxy to an engine on the network, http://, https:// or socks5://, with user:password@ if it needs a login; HTTP_PROXY and the like apply only to registries"`
}

// locate reads the address and the TLS files. The environment's DOCKER_HOST is the
// address of last resort. Warnings name options that have no effect.
func locate(o Connection, dockerHost string) (engine.Endpoint, []string, error) {
	switch isDefault := o.Socket == "" || o.Socket == defaultSocket; {
	case o.Host != "":
		endpoint, warnings, err := o.locate("host", o.Host)
		if !isDefault {
			warnings = append(warnings, "socket has no effect because host is set")
		}
		return endpoint, warnings, err
	case !isDefault:
		return o.locate("socket", o.Socket)
	case dockerHost != "":
		endpoint, warnings, err := o.locate("socket", dockerHost)
		var invalid *sdk.InvalidError
		if errors.As(err, &invalid) && invalid.Fields[0].Field == "socket" {
			err = sdk.Invalid("socket", "is not set, and DOCKER_HOST of the environment cannot be used: %s",
				invalid.Fields[0].Detail)
		}
		return endpoint, warnings, err
	}
	return o.locate("socket", defaultSocket)
}

// locate reads the address text, which is the value of an option.
func (o Connection) locate(option, text string) (engine.Endpoint, []string, error) {
	if name, is := strings.CutPrefix(text, contextPrefix); is {
		return o.locateContext(option, name)
	}
	var warnings []string
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "unix", text
		if option == "host" {
			scheme = "tcp"
		}
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "unix":
		if rest == "" || len(rest) > maxSocketPath {
			return engine.Endpoint{}, nil,
				sdk.Invalid(option, "the path of the socket must have 1 to %d characters, such as %s", maxSocketPath, defaultSocket)
		}
		if o.usesTLS() {
			warnings = append(warnings, "cafile, certfile and keyfile have no effect on a unix socket")
		}
		warnings = append(warnings, o.unusedSSH()...)
		return engine.Endpoint{Network: "unix", Address: rest}, append(warnings, o.unusedProxy("a unix socket")...), nil
	case "tcp", "http", "https":
		endpoint, err := locateTCP(o, option, scheme, rest)
		return endpoint, append(warnings, o.unusedSSH()...), err
	case "ssh":
		return o.locateSSH(option, rest)
	}
	return engine.Endpoint{}, nil,
		sdk.Invalid(option, "%q:// is not an address of an engine: use a path, unix://, ssh://, tcp://, http:// or https://",
			scheme)
}

func locateTCP(o Connection, option, scheme, rest string) (engine.Endpoint, error) {
	if ip, err := netip.ParseAddr(rest); err == nil && ip.Is6() {
		rest = "[" + rest + "]"
	}
	u, err := url.Parse("tcp://" + rest)
	if err != nil || u.Hostname() == "" {
		return engine.Endpoint{},
			sdk.Invalid(option, "is not an address: write it like engine.example.org or tcp://engine.example.org:%d", plainPort)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return engine.Endpoint{},
			sdk.Invalid(option,
				"an engine's address has no user, password, ? or #; the engine knows its clients by certificate, see certfile")
	}
	secure := scheme == "https" || o.usesTLS()
	if secure && scheme == "http" {
		return engine.Endpoint{},
			sdk.Invalid(option, "http:// is without TLS, but cafile or certfile is set: write https:// or remove the files")
	}
	endpoint := engine.Endpoint{Network: "tcp", Prefix: strings.TrimRight(u.Path, "/")}
	if secure {
		if endpoint.TLS, err = o.tlsConfig(); err != nil {
			return engine.Endpoint{}, err
		}
	}
	port := cmp.Or(u.Port(), strconv.Itoa(o.port(secure)))
	endpoint.Address = net.JoinHostPort(u.Hostname(), port)
	if p := o.Proxy; p != nil {
		if !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, p.Scheme) || p.Host == "" {
			return engine.Endpoint{}, sdk.Invalid("proxy", "want a URL that starts with http://, https:// or socks5://")
		}
		endpoint.Proxy = p
	}
	return endpoint, nil
}

// unusedProxy warns of a proxy that connections of a kind do not go through.
func (o Connection) unusedProxy(kind string) []string {
	if o.Proxy == nil {
		return nil
	}
	return []string{"proxy has no effect for " + kind}
}

// port is the option's value. The default of plain connections cannot be
// distinguished from the same value, so with TLS it means the port of TLS; the
// address itself may name any port.
func (o Connection) port(secure bool) int {
	switch {
	case secure && (o.Port == 0 || o.Port == plainPort):
		return tlsPort
	case o.Port == 0:
		return plainPort
	}
	return o.Port
}

func (o Connection) usesTLS() bool { return o.CAFile != "" || o.CertFile != "" || o.KeyFile != "" }

// tlsConfig trusts only the CA of cafile, or the system's CAs without one.
func (o Connection) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := readFile("cafile", o.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, sdk.Invalid("cafile", "%s holds no PEM certificate", o.CAFile)
		}
	}
	switch {
	case o.CertFile == "" && o.KeyFile == "":
		return config, nil
	case o.KeyFile == "":
		return nil, sdk.Invalid("keyfile", "is required with certfile")
	case o.CertFile == "":
		return nil, sdk.Invalid("certfile", "is required with keyfile")
	}
	certificate, err := readFile("certfile", o.CertFile)
	if err != nil {
		return nil, err
	}
	key, err := readFile("keyfile", o.KeyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, sdk.Invalid("certfile", "%s and keyfile %s do not make a pair: %v", o.CertFile, o.KeyFile, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// maxPEM is more than any chain of certificates needs.
const maxPEM = 1 << 20

func readFile(option, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPEM) {
		err = fmt.Errorf("%s is not a PEM file", path)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, sdk.Invalid(option, "%v", err)
	}
	return content, nil
}
