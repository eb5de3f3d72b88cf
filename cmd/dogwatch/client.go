package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// errNoDaemon means that nothing listens where Dogwatch is configured to serve.
var errNoDaemon = errors.New("no Dogwatch is serving")

// daemon speaks to the Dogwatch that serves with this configuration.
type daemon struct {
	base string // with the base path, without a slash at the end
	http *http.Client
	// token is sent to a daemon that asks for a login; "" when there is none.
	token string
	// settings lead to the store, where a pass can be made; nil when nobody asks for one.
	settings *config.Config
}

// daemonOf returns the daemon of a configuration. It connects to nothing yet.
func daemonOf(s config.Server) (*daemon, error) {
	switch {
	case !s.Enabled:
		return nil, fmt.Errorf("%w: server.enabled is false", errNoDaemon)
	case s.Port == 0:
		return nil, fmt.Errorf("%w at a known address: server.port is 0", errNoDaemon)
	}
	scheme, host := "http", s.Host
	if s.TLS.Enabled {
		scheme = "https"
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	base := scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.Port)) + strings.TrimRight(s.BasePath, "/")
	return &daemon{base: base, http: localClient(), token: os.Getenv(config.TokenVariable)}, nil
}

// trustedDaemonOf is daemonOf for what needs a login: whoever may write the store
// gets a pass when the daemon asks for one.
func trustedDaemonOf(cfg *config.Config) (*daemon, error) {
	d, err := daemonOf(cfg.Server)
	if err == nil {
		d.settings = cfg
	}
	return d, err
}

// localClient returns a client for the server of this very configuration. It is
// on this machine, so no proxy is asked, and its certificate, which is for the
// name under which others reach it, is not verified: nothing secret is sent but
// a token or a pass of a few minutes, to something that asked for it.
func localClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:       (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
}

// call makes a request and decodes the answer. The error is errNoDaemon when
// nothing listens, and otherwise what the daemon said.
func (d *daemon) call(ctx context.Context, method, path string, into any) error {
	return d.exchange(ctx, method, path, nil, into)
}

// post is a call that sends what is written as JSON, and reads no answer.
func (d *daemon) post(ctx context.Context, path string, given any) error {
	text, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return d.exchange(ctx, http.MethodPost, path, text, nil)
}

func (d *daemon) exchange(ctx context.Context, method, path string, text []byte, into any) (err error) {
	res, err := d.send(ctx, method, path, text, "")
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusUnauthorized && (d.token != "" || d.settings != nil) {
		res.Body.Close()
		pass, takeBack, err := d.pass(ctx)
		if err != nil {
			return fmt.Errorf("log in to %s: %w", d.base, err)
		}
		defer func() { err = errors.Join(err, takeBack()) }()
		if res, err = d.send(ctx, method, path, text, pass); err != nil {
			return err
		}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", d.base+path, err)
	}
	if res.StatusCode >= 300 {
		return d.refusal(path, res.Status, body)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(into); err != nil {
		return fmt.Errorf("what answers at %s is not Dogwatch: %w", d.base, err)
	}
	return nil
}

// pass returns what to log in with, and what takes it back.
func (d *daemon) pass(ctx context.Context) (secret string, takeBack func() error, err error) {
	if d.token != "" {
		return d.token, func() error { return nil }, nil
	}
	file := filepath.Join(d.settings.Store.Path, d.settings.Store.File)
	if _, err = os.Stat(file); err == nil {
		secret, takeBack, err = passFor(ctx, d.settings)
	}
	if err != nil {
		err = fmt.Errorf("%w; set %s to a token, or run this where its database can be written", err, config.TokenVariable)
	}
	return secret, takeBack, err
}

func (d *daemon) send(ctx context.Context, method, path string, text []byte, pass string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if len(text) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if pass != "" {
		req.Header.Set("Authorization", "Bearer "+pass)
	}
	res, err := d.http.Do(req)
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w at %s: %w", errNoDaemon, d.base, rootOf(err))
}

// refusal is the error of an answer that is not a success.
func (d *daemon) refusal(path, status string, body []byte) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &problem) == nil && problem.Detail != "" {
		return errors.New(problem.Detail)
	}
	return fmt.Errorf("%s answered %s", d.base+path, status)
}

// rootOf takes the words of net/http and net around a connection error away.
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
