package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Path is where the controller takes connections of agents, below the address of its pages.
const Path = "/agent/v1/link"

// maxFrame bounds a message of a WebSocket, in bytes: each has one record of TLS, of 16 KiB with its overhead.
const maxFrame = 64 << 10

// dial opens a connection with the controller at an address: where its pages are, or tcp://HOST:PORT for agents.listen.
// The former proxies of the environment (HTTPS_PROXY and the like) may pass on; the certificate of the outer TLS is not
// verified there, as a proxy of a company may have replaced it: nothing is sent before the TLS inside has verified the
// controller.
func dial(ctx context.Context, address string) (net.Conn, error) {
	u, err := linkURL(address)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if u.Scheme == "tcp" {
		conn, err := dialer.DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return nil, fmt.Errorf("reach %s: %w", address, rootOf(err))
		}
		return conn, nil
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	ws, response, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport},
	})
	switch {
	case err == nil:
		ws.SetReadLimit(maxFrame)
		return websocket.NetConn(context.Background(), ws, websocket.MessageBinary), nil
	case response != nil && response.StatusCode > 0:
		return nil, fmt.Errorf("%s answered %s: is that the address of a Dogwatch that serves, and does the proxy before it "+
			"pass WebSockets on?", u.Redacted(), response.Status)
	}
	return nil, fmt.Errorf("reach %s: %w", u.Redacted(), rootOf(err))
}

// linkURL returns where the links of a controller end whose pages are at an address.
func linkURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("want the address of a Dogwatch's pages, such as https://dogwatch.example.org")
	}
	switch u.Scheme {
	case "http", "https":
	case "tcp":
		if u.Port() == "" || strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("want tcp://HOST:PORT, with the port of agents.listen, got %s", address)
		}
		return u, nil
	default:
		return nil, fmt.Errorf("want an address that begins with https://, http:// or tcp://, got %s://", u.Scheme)
	}
	return u.JoinPath(strings.TrimPrefix(Path, "/")), nil
}

// Accept makes a connection of a request of an agent. After an error it has responded.
func Accept(w http.ResponseWriter, r *http.Request) (net.Conn, error) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(maxFrame)
	return websocket.NetConn(context.Background(), ws, websocket.MessageBinary), nil
}

// rootOf leaves out what was being done, which the caller says.
func rootOf(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		if _, isOp := err.(*net.OpError); isOp {
			return err
		}
		err = inner.Unwrap()
	}
}
