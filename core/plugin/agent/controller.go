package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// tokenLife is how long a token may be used.
	tokenLife = 10 * time.Minute
	// startTime bounds all that comes before a link, or in its place.
	startTime = 20 * time.Second
	// maxStarting is how many connections may be there of which it is not known yet whose they are.
	maxStarting = 16
)

// ControllerOptions configure a Controller.
type ControllerOptions struct {
	Store Store
	// Authority is the file of the authority, which is made for the first token.
	Authority string
	// Version is that of this program.
	Version string
	// Taken reports whether a watcher that is no agent has a name.
	Taken func(name string) bool
	// Changed is called when agents have joined, left, or have other names. It must not block.
	Changed func()
	// Linked is called when an agent was connected, or is not any more, for a reason then. It must not block.
	Linked func(name string, err error)
	Log    hclog.Logger
	Now    func() time.Time
	// beat is how often each side asks whether the other is there; 0 for keepAlive.
	beat time.Duration
}

// Controller is where agents join and dial in. It implements plugin.Remote. Its methods may be called concurrently.
type Controller struct {
	opt      ControllerOptions
	starting chan struct{}

	life context.Context
	end  context.CancelFunc
	wait sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// authority and tls are nil before the authority is made, or read.
	authority *Authority
	tls       *tls.Config
	agents    []Agent
	names     map[string]bool  // that agents have, or had since the start
	links     map[string]*link // by the keys of their agents
	refused   []refusal        // the latest last
	// changed is closed and replaced whenever agents or links change.
	changed chan struct{}
}

// NewController returns a controller with the agents of its store. It must be closed.
func NewController(ctx context.Context, opt ControllerOptions) (*Controller, error) {
	c := &Controller{
		opt: opt, starting: make(chan struct{}, maxStarting), links: map[string]*link{}, names: map[string]bool{},
		changed: make(chan struct{}),
	}
	if err := c.reload(ctx); err != nil {
		return nil, err
	}
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// open returns the authority, and the configuration with its certificate. It makes the file only with create; without
// one, no agent can have joined.
func (c *Controller) open(create bool) (*Authority, *tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.authority != nil {
		return c.authority, c.tls, nil
	}
	if _, err := os.Stat(c.opt.Authority); errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil, errors.New("no token was ever made here, so that no agent can have joined")
	}
	authority, err := OpenAuthority(c.opt.Authority, c.opt.Now)
	if err != nil {
		return nil, nil, err
	}
	own, err := authority.controllerCertificate()
	if err != nil {
		return nil, nil, err
	}
	c.authority, c.tls = authority, serverTLS(own, authority.cert, c.opt.Now)
	return c.authority, c.tls, nil
}

// serverTLS asks for a certificate of an agent, unless that is what a connection is for.
func serverTLS(own tls.Certificate, authority *x509.Certificate, now func() time.Time) *tls.Config {
	agents := x509.NewCertPool()
	agents.AddCert(authority)
	closed := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, Time: now, SessionTicketsDisabled: true,
		NextProtos: []string{protocolLink, protocolRenew, protocolProbe}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: agents,
	}
	open := closed.Clone()
	open.NextProtos, open.ClientAuth, open.ClientCAs = []string{protocolJoin}, tls.NoClientCert, nil
	closed.GetConfigForClient = func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		switch {
		case slices.Equal(info.SupportedProtos, open.NextProtos):
			return open, nil
		case len(info.SupportedProtos) == 0:
			return nil, errors.New("it does not say what it wants")
		}
		return nil, nil
	}
	return closed
}

// Close ends every link, and waits for that.
func (c *Controller) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.wait.Wait()
}

// Serve serves a connection of an agent, or of one that wants to join, and closes it. It returns when it has ended.
func (c *Controller) Serve(conn net.Conn, address string) {
	defer conn.Close()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.wait.Add(1)
	c.mu.Unlock()
	defer c.wait.Done()
	log := c.opt.Log.With("address", address)
	l, name, err := c.start(conn, address)
	if err != nil {
		log.Warn("a connection of an agent was refused", "error", err)
		c.noteRefusal(refusal{at: c.opt.Now(), address: address, agent: name, err: err})
		return
	}
	if l == nil {
		return // all is said
	}
	c.keep(l)
}

// start finds out whose a connection is, and answers what is no link. The name is that of the agent; "" for another.
func (c *Controller) start(conn net.Conn, address string) (l *link, name string, err error) {
	select {
	case c.starting <- struct{}{}:
		defer func() { <-c.starting }()
	default:
		return nil, "", fmt.Errorf("%d others are not through with that either", maxStarting)
	}
	_, config, err := c.open(false)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(c.life, startTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	secure := tls.Server(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, "", err
	}
	h, err := receive[hello](secure)
	switch {
	case errors.Is(err, io.EOF): // it has found out what it wanted to know; see Examine
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	state := secure.ConnectionState()
	var a Agent
	var why error
	if state.NegotiatedProtocol != protocolJoin {
		a, why = c.agentOf(state)
	}
	if why == nil {
		why = compatible(c.opt.Version, h.Version)
	}
	w := welcome{Version: c.opt.Version, Name: a.Name}
	switch {
	case why != nil:
	case state.NegotiatedProtocol == protocolJoin:
		w.Name, w.Certificate, why = c.join(ctx, h)
	case state.NegotiatedProtocol == protocolRenew:
		w.Certificate, why = c.renew(a, state, h.Request)
	}
	if why != nil {
		w = welcome{Error: why.Error(), Version: c.opt.Version}
	}
	if err := send(secure, w); err != nil || why != nil {
		_ = secure.CloseWrite() // so that the reason arrives
		return nil, a.Name, errors.Join(why, err)
	}
	if state.NegotiatedProtocol != protocolLink {
		return nil, a.Name, nil
	}
	l, err = newLink(ctx, secure, a, h, address, c.opt)
	return l, a.Name, err
}

// agentOf returns the agent that has shown its certificate.
func (c *Controller) agentOf(state tls.ConnectionState) (Agent, error) {
	key := keyOf(state.PeerCertificates[0].RawSubjectPublicKeyInfo)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.agents {
		if bytes.Equal(a.Key, key) {
			return a, nil
		}
	}
	return Agent{}, ErrUnknown
}

// join makes who has a token an agent.
func (c *Controller) join(ctx context.Context, h hello) (name string, certificate []byte, err error) {
	request, err := x509.ParseCertificateRequest(h.Request)
	if err != nil {
		return "", nil, fmt.Errorf("the request for a certificate is wrong: %w", err)
	}
	authority, _, err := c.open(false)
	if err == nil {
		certificate, err = authority.issue(h.Request, "agent")
	}
	if err != nil {
		return "", nil, err
	}
	a := Agent{
		Name: h.Name, Key: keyOf(request.RawSubjectPublicKeyInfo), Version: fit(h.Version, maxVersion), Joined: c.opt.Now(),
	}
	if err = CheckName(a.Name); err != nil {
		return "", nil, err
	}
	if c.opt.Taken(a.Name) {
		a.Name = "" // that of the token will do
	}
	a, err = c.opt.Store.JoinAgent(ctx, h.Token, Token{secret: h.Secret}.Hash(), a)
	if err != nil {
		return "", nil, c.tell(err)
	}
	c.opt.Log.Info("an agent has joined", "agent", a.Name, "token_of", a.Creator)
	if err := c.reload(ctx); err != nil {
		return "", nil, c.tell(err)
	}
	c.opt.Changed()
	return a.Name, certificate, nil
}

// tell returns what an agent may know of an error.
func (c *Controller) tell(err error) error {
	for _, known := range []error{ErrTokenUnknown, ErrTokenUsed, ErrTokenExpired, ErrNameTaken} {
		if errors.Is(err, known) {
			return known
		}
	}
	c.opt.Log.Error("store an agent", "error", err)
	return errors.New("the controller could not store it: see its log")
}

// renew signs the key of an agent once more, and no other.
func (c *Controller) renew(a Agent, state tls.ConnectionState, request []byte) ([]byte, error) {
	csr, err := x509.ParseCertificateRequest(request)
	if err != nil || !bytes.Equal(csr.RawSubjectPublicKeyInfo, state.PeerCertificates[0].RawSubjectPublicKeyInfo) {
		return nil, errors.New("the request for a certificate is wrong: want the key that the agent has")
	}
	authority, _, err := c.open(false)
	if err != nil {
		return nil, err
	}
	certificate, err := authority.issue(request, "agent")
	if err == nil {
		c.opt.Log.Info("the certificate of an agent is renewed", "agent", a.Name)
	}
	return certificate, err
}

// maxVersion and maxSaid bound what an agent says of itself, in bytes.
const (
	maxVersion = 64
	maxSaid    = 512
)

func fit(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }

// keep has a link serve until it ends. It ends an earlier one of the same agent.
func (c *Controller) keep(l *link) {
	key := string(l.agent.Key)
	c.mu.Lock()
	before := c.links[key]
	revoked := !slices.ContainsFunc(c.agents, func(a Agent) bool { // since it was asked
		return string(a.Key) == key && a.Name == l.agent.Name
	})
	if !revoked {
		c.links[key] = l
		c.announce()
	}
	c.mu.Unlock()
	if before != nil {
		before.close()
	}
	log := c.opt.Log.With("agent", l.agent.Name)
	if !revoked {
		log.Info("agent is connected", "address", l.address, "version", l.version)
		c.saw(l)
		c.opt.Linked(l.agent.Name, nil)
		select {
		case <-l.session.CloseChan():
		case <-c.life.Done():
		}
	}
	l.close()
	c.mu.Lock()
	last := c.links[key] == l
	if last {
		delete(c.links, key)
		c.announce()
	}
	c.mu.Unlock()
	if last {
		log.Warn("agent is not connected any more", "for", c.opt.Now().Sub(l.since).Round(time.Second))
		c.saw(l)
		c.mu.Lock()
		_, err := c.linkOf(l.agent.Name)
		c.mu.Unlock()
		c.opt.Linked(l.agent.Name, err)
	}
}

func (c *Controller) saw(l *link) {
	ctx := context.WithoutCancel(c.life)
	err := c.opt.Store.SeenAgent(ctx, l.agent.Key, l.version, c.opt.Now())
	if err == nil {
		err = c.reload(ctx)
	}
	if err != nil {
		c.opt.Log.Error("store when an agent was connected", "agent", l.agent.Name, "error", err)
	}
}

// announce wakes all that wait for a change. c.mu is held.
func (c *Controller) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// reload reads the agents from the store.
func (c *Controller) reload(ctx context.Context) error {
	all, err := c.opt.Store.Agents(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents = all
	for _, a := range all {
		c.names[a.Name] = true
	}
	c.announce()
	return nil
}

// Client implements plugin.Remote.
func (c *Controller) Client(ctx context.Context, id string, wait bool) (*pluginclient.Client, error) {
	name := id[strings.LastIndexByte(id, '.')+1:]
	for {
		c.mu.Lock()
		l, err := c.linkOf(name)
		changed := c.changed
		c.mu.Unlock()
		if err == nil || !wait {
			if err != nil {
				return nil, err
			}
			return l.client, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.life.Done():
			return nil, sdk.WithKind(sdk.ErrUnavailable, errors.New("dogwatch is stopping"))
		}
	}
}

// linkOf returns the link of an agent. c.mu is held.
func (c *Controller) linkOf(name string) (*link, error) {
	for _, a := range c.agents {
		if a.Name != name {
			continue
		}
		if l := c.links[string(a.Key)]; l != nil {
			return l, nil
		}
		if a.Seen.IsZero() {
			return nil, errors.New("the agent has joined and was never connected: run dogwatch agent on its host")
		}
		return nil, sdk.WithRemedy(fmt.Errorf("the agent is not connected; it was last at %s",
			a.Seen.UTC().Format("2006-01-02 15:04:05 UTC")),
			"See that dogwatch agent runs on its host. Examine, on the page Agents, says what keeps it from connecting.")
	}
	return nil, fmt.Errorf("no agent of this name has joined: run dogwatch agent token --name %s here, and what it prints "+
		"on the host", name)
}

// Names returns the names of all agents, sorted.
func (c *Controller) Names() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.agents {
		names = append(names, a.Name)
	}
	return names
}

// Limits returns what the owner of the host of an agent allows; false while it is not connected.
func (c *Controller) Limits(name string) (Limits, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.linkOf(name)
	if err != nil {
		return Limits{}, false
	}
	return l.limits, true
}

// Was reports whether an agent has had a name since the start.
func (c *Controller) Was(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names[name]
}

// Status is an agent as users see it.
type Status struct {
	Agent
	// Connected is whether there is a link, Since when it began and Address where from; empty without.
	Connected bool
	Since     time.Time
	Address   string
	// Limits are what the owner of the host allows; empty without a link.
	Limits Limits
}

// Agents returns all agents, by name.
func (c *Controller) Agents() []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Status{}
	for _, a := range c.agents {
		s := Status{Agent: a}
		if l := c.links[string(a.Key)]; l != nil {
			s.Connected, s.Since, s.Address, s.Limits = true, l.since, l.address, l.limits
		}
		all = append(all, s)
	}
	return all
}

// NewToken makes a token, and returns its text, which is not kept, and when it expires. With a name the agent gets
// that name, also one that another agent has, which it replaces.
func (c *Controller) NewToken(ctx context.Context, name, creator string) (text string, expires time.Time, err error) {
	if name != "" {
		if err := CheckName(name); err != nil {
			return "", expires, sdk.Invalid("name", "%s", err)
		}
		if c.opt.Taken(name) {
			return "", expires, sdk.Invalid("name", "a watcher that is no agent is called %s", name)
		}
	}
	authority, _, err := c.open(true)
	if err != nil {
		return "", expires, err
	}
	t := newToken(authority.Fingerprint())
	expires = c.opt.Now().Add(tokenLife)
	return t.Text(), expires, c.opt.Store.AddAgentToken(ctx, Wanted{
		ID: t.ID(), Hash: t.Hash(), Name: name, Creator: creator, Expires: expires,
	})
}

// Revoke ends an agent: its link, and its right to dial in. The error is ErrNotFound for a name that no agent has.
func (c *Controller) Revoke(ctx context.Context, name string) error {
	return c.change(ctx, name, func() error { return c.opt.Store.RemoveAgent(ctx, name) })
}

// Rename gives an agent another name. It dials in again by itself.
func (c *Controller) Rename(ctx context.Context, name, to string) error {
	if err := CheckName(to); err != nil {
		return sdk.Invalid("name", "%s", err)
	}
	if c.opt.Taken(to) {
		return sdk.Invalid("name", "a watcher that is no agent is called %s", to)
	}
	return c.change(ctx, name, func() error { return c.opt.Store.RenameAgent(ctx, name, to) })
}

func (c *Controller) change(ctx context.Context, name string, store func() error) error {
	if err := store(); err != nil {
		return err
	}
	c.mu.Lock()
	l, _ := c.linkOf(name)
	c.mu.Unlock()
	err := c.reload(context.WithoutCancel(ctx))
	if l != nil {
		l.close()
	}
	c.opt.Changed()
	return err
}
