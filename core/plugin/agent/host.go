package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/yamux"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/backoff"
	"github.com/dogwatch/dogwatch/internal/pluginserver"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// redialFirst is the pause after a link that broke, doubled up to redialLongest while there is no other.
	redialFirst   = time.Second
	redialLongest = time.Minute
	// refusedPause follows the answer of a controller that does not know the agent.
	refusedPause = 5 * time.Minute
	// maxRequest bounds what the controller may send in one message, in bytes.
	maxRequest = 16 << 20
)

// HostOptions configure an agent on its host.
type HostOptions struct {
	// Dir is its folder, in which Join has left an identity.
	Dir string
	// Version is that of this program.
	Version string
	Watcher *Watcher
	Log     hclog.Logger
	Now     func() time.Time
	// Linked is called when the link with the controller is there, with the agent's name; nil for nothing.
	Linked func(name string)
	// dial opens a connection with the controller; nil for dial. pause and beat are shorter in tests.
	dial  func(ctx context.Context, address string) (net.Conn, error)
	pause backoff.Pauses
	beat  time.Duration
}

// Run keeps a link with the controller until ctx ends. An error means that the folder has no usable identity.
func Run(ctx context.Context, opt HostOptions) error {
	if opt.dial == nil {
		opt.dial = dial
	}
	if opt.pause.First == 0 {
		opt.pause = backoff.Pauses{First: redialFirst, Longest: redialLongest}
	}
	opt.well(nil)
	defer os.Remove(filepath.Join(opt.Dir, healthFile))
	for failures := 1; ; failures++ {
		identity, err := LoadIdentity(opt.Dir)
		if err != nil {
			return err
		}
		began := time.Now()
		err = opt.linkOnce(ctx, identity)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > opt.pause.Longest {
			failures = 1 // it was there meanwhile
		}
		pause := opt.pause.After(failures)
		var refused *refusedError
		if errors.As(err, &refused) {
			pause = max(pause, opt.pause.Longest*(refusedPause/redialLongest))
			opt.well(err)
		}
		pause += rand.N(pause/2 + 1) // so that many agents do not come at once after a restart of the controller
		opt.Log.Warn("no link with the controller", "controller", identity.URL, "error", err, "again_in",
			pause.Round(time.Millisecond))
		if backoff.Wait(ctx, pause) != nil {
			return nil
		}
	}
}

// well keeps whether the controller refuses the agent, for health checks.
func (opt HostOptions) well(refused error) {
	if err := writeHealth(opt.Dir, refused); err != nil {
		opt.Log.Warn("keep the health of the agent", "error", err)
	}
}

// linkOnce renews the certificate where that is due, and serves one link until it breaks.
func (opt HostOptions) linkOnce(ctx context.Context, i Identity) error {
	i, err := opt.renewed(ctx, i)
	if err != nil {
		return fmt.Errorf("renew the agent's certificate: %w", err)
	}
	config, err := i.tls(protocolLink, opt.Now)
	if err != nil {
		return err
	}
	conn, w, err := open(ctx, opt.dial, i.URL, config, hello{
		Version: opt.Version, Updates: true, ReadOnly: opt.Watcher.limits.ReadOnly,
		Stacks: few(opt.Watcher.limits.Stacks), Hooks: opt.Watcher.limits.Hooks, Logs: opt.Watcher.limits.Logs,
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	opt.Watcher.name.Store(&w.Name)
	if w.Name != i.Name {
		opt.Log.Info("the controller calls this agent by another name", "name", w.Name, "before", i.Name)
		i.Name = w.Name
		if err := i.save(opt.Dir, identityFile); err != nil {
			return err
		}
	}
	session, err := yamux.Server(conn, muxConfig(opt.Log, opt.beat))
	if err != nil {
		return err
	}
	opt.Log.Info("linked with the controller", "controller", i.URL, "name", i.Name)
	opt.well(nil)
	if opt.Linked != nil {
		opt.Linked(i.Name)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	due := time.AfterFunc(i.expires().Add(-renewBefore).Sub(opt.Now()), end) // then it is renewed, and linked again
	defer due.Stop()
	go func() { // ends with the session, which the end of this call closes
		<-session.CloseChan()
		end()
	}()
	bundle := pluginserver.Bundle{Version: opt.Version, Watchers: []watcher.Type{
		typeOf(func() (*Watcher, error) { return opt.Watcher, nil }),
	}}
	err = pluginserver.Serve(ctx, session, bundle, opt.Log, grpc.MaxRecvMsgSize(maxRequest))
	session.Close()
	if err == nil || ctx.Err() != nil {
		return errors.New("the link has ended")
	}
	return err
}

// renewed returns an identity whose certificate is not about to expire.
func (opt HostOptions) renewed(ctx context.Context, i Identity) (Identity, error) {
	if i.expires().Sub(opt.Now()) > renewBefore {
		return i, nil
	}
	config, err := i.tls(protocolRenew, opt.Now)
	if err != nil {
		return i, err
	}
	request, err := i.request()
	if err != nil {
		return i, err
	}
	w, err := exchange(ctx, opt.dial, i.URL, config, hello{Version: opt.Version, Request: request})
	if err != nil {
		return i, err
	}
	i.Name, i.Certificate = w.Name, string(encodeCertificate(w.Certificate))
	opt.Log.Info("the agent's certificate is renewed", "expires", day(i.expires()))
	return i, i.save(opt.Dir, identityFile)
}

// DefaultName makes a name for an agent of that of its host.
func DefaultName() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return tidyName(host)
}

// tidyName returns what of a host's name may be the name of an agent; "" for nothing.
func tidyName(host string) string {
	var name []byte
	for _, b := range []byte(host) {
		switch {
		case b == '.':
			return string(trimDashes(name))
		case 'A' <= b && b <= 'Z':
			name = append(name, b+'a'-'A')
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9':
			name = append(name, b)
		default:
			name = append(name, '-')
		}
	}
	return string(trimDashes(name))
}

func trimDashes(name []byte) []byte {
	name = name[:min(len(name), 63)]
	for len(name) > 0 && name[0] == '-' {
		name = name[1:]
	}
	for len(name) > 0 && name[len(name)-1] == '-' {
		name = name[:len(name)-1]
	}
	return name
}
