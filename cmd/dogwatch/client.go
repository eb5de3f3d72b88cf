package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// maxResponse bounds what is read of the body of a response, in bytes.
const maxResponse = 64 << 20

// errNotServing means that no Dogwatch serves at the configured address.
var errNotServing = errors.New("no Dogwatch is serving")

// client makes HTTP requests to the Dogwatch that serves with this configuration.
type client struct {
	base string // with the base path, without a slash at the end
	http *http.Client
	// token is sent to a server that demands a login; "" when there is none.
	token string
	// header is sent besides.
	header http.Header
	// settings lead to the store, in which a temporary token can be made; nil when no command needs one.
	settings *config.Config
	// keeps is whether a temporary token is used for all requests until close, and
	// kept is that token, which revoke ends.
	keeps  bool
	kept   string
	revoke func() error
}

// newClient returns a client of the server of a configuration. It connects to nothing yet.
// The error is errNotServing when the configuration has no server.
func newClient(s config.Server) (*client, error) {
	switch {
	case !s.Enabled:
		return nil, fmt.Errorf("%w: server.enabled is false", errNotServing)
	case s.Port == 0:
		return nil, fmt.Errorf("%w at a known address: server.port is 0", errNotServing)
	}
	scheme, host := "http", s.Host
	if s.TLS.Enabled {
		scheme = "https"
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	base := scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.Port)) + strings.TrimRight(s.BasePath, "/")
	return &client{base: base, http: localClient(), token: os.Getenv(config.TokenVariable)}, nil
}

// newTrustedClient is newClient for requests that need a login. A user who may write
// the store gets a temporary token when the server demands one.
func newTrustedClient(cfg *config.Config) (*client, error) {
	c, err := newClient(cfg.Server)
	if err == nil {
		c.settings = cfg
	}
	return c, err
}

// localClient returns a client for the server of this very configuration. It is
// on this machine, so no proxy is used, and its certificate, which is for the
// name under which others reach it, is not verified: nothing secret is sent but
// a token, or a temporary one, to a server that demanded it.
func localClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:       (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
}

// call makes a request and decodes the response. The error is errNotServing when
// nothing listens, and otherwise the server's problem document.
func (c *client) call(ctx context.Context, method, path string, into any) error {
	return c.exchange(ctx, method, path, nil, into)
}

// post sends a value as JSON and decodes the response, unless into is nil.
func (c *client) post(ctx context.Context, path string, given, into any) error {
	text, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return c.exchange(ctx, http.MethodPost, path, text, into)
}

// close ends the temporary token of a client that keeps one.
func (c *client) close() error {
	if c.revoke == nil {
		return nil
	}
	return c.revoke()
}

func (c *client) exchange(ctx context.Context, method, path string, text []byte, into any) (err error) {
	res, err := c.send(ctx, method, path, text, c.kept)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusUnauthorized && (c.token != "" || c.settings != nil) {
		res.Body.Close()
		secret, revoke, err := c.login(ctx)
		if err != nil {
			return fmt.Errorf("log in to %s: %w", c.base, err)
		}
		if c.keeps {
			c.kept, c.revoke = secret, revoke
		} else {
			defer func() { err = errors.Join(err, revoke()) }()
		}
		if res, err = c.send(ctx, method, path, text, secret); err != nil {
			return err
		}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.base+path, err)
	}
	if res.StatusCode >= 300 {
		return c.refusal(path, res.Status, body)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(into); err != nil {
		return fmt.Errorf("what answers at %s is not Dogwatch: %w", c.base, err)
	}
	return nil
}

// login returns the token to log in with, and what revokes a temporary one.
func (c *client) login(ctx context.Context) (secret string, revoke func() error, err error) {
	if c.token != "" {
		return c.token, func() error { return nil }, nil
	}
	file := filepath.Join(c.settings.Store.Path, c.settings.Store.File)
	if _, err = os.Stat(file); err == nil {
		secret, revoke, err = temporaryToken(ctx, c.settings)
	}
	if err != nil {
		err = fmt.Errorf("%w; set %s to a token, or run this where its database can be written", err, config.TokenVariable)
	}
	return secret, revoke, err
}

func (c *client) send(ctx context.Context, method, path string, text []byte, secret string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if len(text) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", userAgent())
	maps.Copy(req.Header, c.header)
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := c.http.Do(req)
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w at %s: %w", errNotServing, c.base, rootOf(err))
}

// refusal returns the error of a response that is not a success.
func (c *client) refusal(path, status string, body []byte) error {
	var refused refusedError
	if json.Unmarshal(body, &refused) == nil && refused.Detail != "" {
		return &refused
	}
	return fmt.Errorf("%s answered %s", c.base+path, status)
}

// rootOf returns the error below those of net/http and net.
func rootOf(err error) error {
	var call *os.SyscallError
	var op *net.OpError
	var request *url.Error
	switch {
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &op) && op.Err != nil:
		return op.Err
	case errors.As(err, &request):
		return request.Err
	}
	return err
}

// trustedClient returns a client for requests that need a login.
func (g *global) trustedClient() (*client, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return nil, err
	}
	return newTrustedClient(cfg)
}

func containerPath(c sdk.Container, action string) string {
	return "/api/containers/" + url.PathEscape(c.ID) + "/" + action
}

func cliActor() auth.Actor { return auth.Actor{Identity: auth.Identity{User: commandLine}} }

// temporaryToken makes a token for one command, and returns what revokes it. The
// user of the command must be able to write the store.
func temporaryToken(ctx context.Context, cfg *config.Config) (secret string, revoke func() error, err error) {
	const life = 5 * time.Minute
	var id int64
	err = stored.WithAuth(ctx, cfg, func(a *auth.Auth) error {
		created, token, err := a.CreateToken(ctx, cliActor(), auth.NewToken{
			Name: commandLine, Scope: auth.Write, Expires: time.Now().Add(life),
		})
		secret, id = created, token.ID
		return err
	})
	return secret, func() error {
		return stored.WithAuth(context.WithoutCancel(ctx), cfg, func(a *auth.Auth) error {
			return a.RevokeToken(ctx, cliActor(), id)
		})
	}, err
}

func pluginPath(name, action string) string {
	return "/api/plugins/" + url.PathEscape(name) + "/" + action
}

// commandLine is the name of the actor that creates and revokes tokens here.
const commandLine = "command line"
