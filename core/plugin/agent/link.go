package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/yamux"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

const (
	// keepAlive is how often each side asks whether the other is there: more rarely than proxies end what is silent,
	// nginx after a minute (proxy_read_timeout), and less than 1 KB a minute with the headers of TCP. writeTime is how
	// long an answer, or the sending of anything, may take.
	keepAlive = 45 * time.Second
	writeTime = 10 * time.Second
	// maxStreams is how many streams may be opened that the other side has not accepted yet.
	maxStreams = 8
)

// link is a connection with an agent, at the controller.
type link struct {
	agent   Agent
	version string
	// limits are what the owner of the host allows, as the agent says; it keeps to them itself.
	limits  Limits
	address string
	since   time.Time
	// expires is when the certificate of the agent does.
	expires time.Time
	session *yamux.Session
	conn    *grpc.ClientConn
	client  *pluginclient.Client
	closing sync.Once
}

// newLink opens the link over a connection on which all is said, and has the agent make its watcher.
func newLink(
	ctx context.Context, conn *tls.Conn, a Agent, h hello, address string, opt ControllerOptions,
) (*link, error) {
	session, err := yamux.Client(conn, muxConfig(opt.Log, opt.beat))
	if err != nil {
		return nil, err
	}
	l := &link{
		agent: a, version: fit(h.Version, maxVersion), limits: limitsOf(h), address: address, since: opt.Now(),
		expires: conn.ConnectionState().PeerCertificates[0].NotAfter, session: session,
	}
	l.conn, err = grpc.NewClient("passthrough:///agent", append(pluginclient.DialOptions(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return session.Open() }),
		// The session is inside of TLS already.
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(), grpc.WithDisableServiceConfig())...)
	if err != nil {
		session.Close()
		return nil, err
	}
	l.client = pluginclient.NewClient(l.conn)
	_, err = l.client.Configure(ctx, pluginclient.Instance{
		ID: idOf(a.Name), Kind: kind.Watcher, Type: TypeName, Options: option.Values{},
	})
	if err != nil {
		l.close()
		return nil, fmt.Errorf("agent %s: %w", a.Name, err)
	}
	return l, nil
}

// limitsOf returns what an agent says that its owner allows.
func limitsOf(h hello) Limits {
	l := Limits{ReadOnly: h.ReadOnly, Hooks: h.Hooks, Logs: h.Logs}
	if !h.Updates {
		l.ReadOnly = "the agent there is Dogwatch " + fit(h.Version, maxVersion) + ", which only watches: update it"
	}
	l.ReadOnly = visible.Line(fit(l.ReadOnly, maxSaid))
	for _, stack := range few(h.Stacks) {
		l.Stacks = append(l.Stacks, visible.Line(stack))
	}
	return l
}

// maxStacks is how many names of stacks an agent says, and each has as many bytes as a version at most.
const maxStacks = 50

func few(stacks []string) (kept []string) {
	for _, stack := range stacks[:min(len(stacks), maxStacks)] {
		kept = append(kept, fit(stack, maxVersion))
	}
	return kept
}

// idOf is the id of the watcher that an agent is.
func idOf(name string) string { return string(kind.Watcher) + "." + TypeName + "." + name }

func (l *link) close() {
	l.closing.Do(func() {
		l.session.Close()
		l.conn.Close()
	})
}

// muxConfig bounds what either side keeps for the other.
func muxConfig(log hclog.Logger, beat time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = maxStreams
	c.EnableKeepAlive = true
	c.KeepAliveInterval, c.ConnectionWriteTimeout = keepAlive, writeTime
	if beat > 0 {
		c.KeepAliveInterval, c.ConnectionWriteTimeout = beat, beat
	}
	c.LogOutput, c.Logger = nil, log.Named("mux").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	return c
}

// olderMinors is how many minor versions an agent may be behind its controller.
const olderMinors = 2

// compatible returns why an agent of a version cannot work with a controller of another: a newer one may, as the
// protocol only gets additions. A version that is none, such as that of a build from source, may always.
func compatible(controller, agent string) error {
	ours, known := minorOf(controller)
	theirs, said := minorOf(agent)
	if !known || !said || ours[0] == theirs[0] && theirs[1]+olderMinors >= ours[1] {
		return nil
	}
	return fmt.Errorf("the agent is Dogwatch %s and the controller %s, which works with agents of its major version that "+
		"are up to %d minor versions older: update the agent", agent, controller, olderMinors)
}

// minorOf returns the major and the minor number of a version.
func minorOf(version string) (n [2]int, ok bool) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 3 {
		return n, false
	}
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(parts[i]); err != nil || n[i] < 0 {
			return n, false
		}
	}
	return n, true
}
