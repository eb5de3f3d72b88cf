package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// JoinOptions say what an agent joins.
type JoinOptions struct {
	// Dir is the folder of the agent, which is made.
	Dir string
	// URL is the address of the controller's pages, Token the text of a token that was made there.
	URL, Token string
	// Name is what the agent wants to be called. A name of the token counts more.
	Name string
	// Version is that of this program.
	Version string
	Now     func() time.Time
	// dial opens a connection with the controller; nil for dial.
	dial func(ctx context.Context, address string) (net.Conn, error)
}

// Join makes this host an agent of a controller. It may be repeated with the same token when it was interrupted. An
// identity that the folder has from before is replaced.
func Join(ctx context.Context, opt JoinOptions) (Identity, error) {
	if opt.dial == nil {
		opt.dial = dial
	}
	token, err := ParseToken(opt.Token)
	if err != nil {
		return Identity{}, err
	}
	if err := CheckName(opt.Name); err != nil {
		return Identity{}, fmt.Errorf("%w; choose one with --name", err)
	}
	if _, err := linkURL(opt.URL); err != nil {
		return Identity{}, err
	}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return Identity{}, fmt.Errorf("make the agent's folder: %w", err)
	}
	i, err := joining(opt, token)
	if err != nil {
		return Identity{}, err
	}
	request, err := i.request()
	if err != nil {
		return Identity{}, err
	}
	var authority []byte
	w, err := exchange(ctx, opt.dial, i.URL, joiningTLS(token.fingerprint, opt.Now, &authority), hello{
		Version: opt.Version, Token: token.ID(), Secret: token.secret, Name: i.Name, Request: request,
	})
	if err != nil {
		return Identity{}, err
	}
	i.Name, i.Certificate, i.Authority, i.Token = w.Name, string(encodeCertificate(w.Certificate)), string(authority), ""
	if err := i.save(opt.Dir, identityFile); err != nil {
		return Identity{}, err
	}
	if err := os.Remove(filepath.Join(opt.Dir, joiningFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Identity{}, err
	}
	return i, nil
}

// joining returns the identity with which the agent joins, whose key is on the disk by then: after an interruption the
// controller takes the same key with the same token again.
func joining(opt JoinOptions, token Token) (Identity, error) {
	i, err := readIdentity(filepath.Join(opt.Dir, joiningFile))
	if err != nil || i.Token != token.ID() {
		i = Identity{Token: token.ID()}
		if i.Key, err = newKey(); err != nil {
			return i, err
		}
	}
	i.URL, i.Name = opt.URL, opt.Name
	return i, i.save(opt.Dir, joiningFile)
}

// exchange opens a connection, says hello and returns the answer.
func exchange(
	ctx context.Context, dial func(context.Context, string) (net.Conn, error), address string, config *tls.Config, h hello,
) (welcome, error) {
	conn, w, err := open(ctx, dial, address, config, h)
	if err == nil {
		conn.Close()
	}
	return w, err
}

// refusedError is what a controller says to an agent that it does not take.
type refusedError struct{ reason string }

func (e *refusedError) Error() string { return "the controller refuses it: " + e.reason }

// open opens a connection on which hello is said, and answered.
func open(
	ctx context.Context, dial func(context.Context, string) (net.Conn, error), address string, config *tls.Config, h hello,
) (net.Conn, welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	plain, err := dial(ctx, address)
	if err != nil {
		return nil, welcome{}, err
	}
	stop := context.AfterFunc(ctx, func() { plain.Close() })
	w, secure, err := greet(ctx, plain, config, h)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		plain.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("%s does not answer in time: %w", address, err)
		}
		return nil, welcome{}, err
	}
	return secure, w, nil
}

func greet(ctx context.Context, plain net.Conn, config *tls.Config, h hello) (w welcome, secure *tls.Conn, err error) {
	secure = tls.Client(plain, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return w, nil, fmt.Errorf("the TLS inside of the connection, with the controller itself: %w", err)
	}
	if err := send(secure, h); err != nil {
		return w, nil, fmt.Errorf("say hello to the controller: %w", err)
	}
	if w, err = receive[welcome](secure); err != nil {
		return w, nil, fmt.Errorf("the controller did not take the agent: %w", err)
	}
	if w.Error != "" {
		return w, nil, &refusedError{w.Error}
	}
	return w, secure, nil
}
