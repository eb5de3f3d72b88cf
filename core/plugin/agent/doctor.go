package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
)

// Hop is one part of the way between an agent and its controller.
type Hop struct {
	Name string
	// Found is what was found, Err why it does not work, and Remedy what to do where that does not say so.
	Found  string
	Err    error
	Remedy string
}

// Examine goes the way from an agent to its controller, up to the first hop that does not work. It makes no link, so
// the agent may be running.
func Examine(ctx context.Context, opt HostOptions) (hops []Hop) {
	if opt.dial == nil {
		opt.dial = dial
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	add := func(name, found string, err error) bool {
		hops = append(hops, Hop{Name: name, Found: found, Err: err})
		return err == nil
	}
	i, err := LoadIdentity(opt.Dir)
	if !add("identity", fmt.Sprintf("%s, which has joined %s", i.Name, i.URL), err) {
		return hops
	}
	config, err := i.tls(protocolProbe, opt.Now)
	if !add("certificate", "valid until "+day(i.expires()), err) {
		return hops
	}
	name, found, err := resolve(ctx, i.URL)
	if !add(name, found, err) {
		return hops
	}
	conn, err := opt.dial(ctx, i.URL)
	if !add("connection", "there is one with "+i.URL, err) {
		return hops
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	w, _, err := greet(ctx, conn, config, hello{Version: opt.Version})
	add("controller", fmt.Sprintf("Dogwatch %s, which calls this agent %s", w.Version, w.Name), err)
	return hops
}

// resolve looks up the name of the host that is dialed: the controller's, or that of the proxy before it.
func resolve(ctx context.Context, address string) (name, found string, err error) {
	u, err := linkURL(address)
	if err != nil {
		return "address", "", err
	}
	name, host := "name", u.Hostname()
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil {
		return "proxy", "", fmt.Errorf("HTTPS_PROXY, or HTTP_PROXY: %w", err)
	}
	if proxy != nil {
		name, host = "proxy", proxy.Hostname()
	}
	all, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return name, "", err
	}
	return name, host + " is " + strings.Join(all[:min(len(all), 3)], ", "), nil
}

// maxRefused is how many connections are remembered that were refused.
const maxRefused = 16

// refusal is a connection that was refused.
type refusal struct {
	at      time.Time
	address string
	// agent is the name of the agent that dialed; "" where that was not found out.
	agent string
	err   error
}

func (c *Controller) noteRefusal(r refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = append(c.refused[max(0, len(c.refused)-maxRefused+1):], r)
}

// Examine goes the way between the controller and an agent, up to the first hop that does not work: over the link to
// the engine of the host, or, without a link, from the public address of the pages back to here, as the agent would.
// public is that address; "" for none. Nothing changes. The error is ErrNotFound for a name that no agent has.
func (c *Controller) Examine(ctx context.Context, name, public string) ([]Hop, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	a, l := c.agentNamed(name)
	if a == nil {
		return nil, ErrNotFound
	}
	joined := Hop{Name: "agent", Found: fmt.Sprintf("%s has joined %s, with a token of %s", a.Name, day(a.Joined), a.Creator)}
	if l == nil {
		return append([]Hop{joined}, c.examineUnlinked(ctx, *a, public)...), nil
	}
	return append([]Hop{joined}, l.examine(ctx)...), nil
}

// agentNamed returns the agent of a name, and its link; nil for none.
func (c *Controller) agentNamed(name string) (*Agent, *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.agents {
		if a.Name == name {
			return &a, c.links[string(a.Key)]
		}
	}
	return nil, nil
}

// examine asks the host at the other end.
func (l *link) examine(ctx context.Context) []Hop {
	hops := []Hop{
		{Name: "connection", Found: fmt.Sprintf("from %s since %s, of Dogwatch %s", l.address, day(l.since), l.version)},
		{Name: "certificate", Found: "valid until " + day(l.expires) + "; it renews itself"},
	}
	id := idOf(l.agent.Name)
	found, err := l.client.Probe(ctx, id, sdk.ProbeRequest{})
	if err == nil {
		all, listErr := l.client.Watcher(id).List(ctx)
		found.Summary, err = fmt.Sprintf("%s; it lists %d containers", found.Summary, len(all)), listErr
	}
	hops = append(hops, Hop{
		Name: "engine", Found: visible.Line(fit(found.Summary, maxSaid)), Err: err,
		Remedy: "run dogwatch doctor on the host, with the configuration of its agent",
	})
	if err != nil {
		return hops
	}
	return append(hops, Hop{Name: "rights", Found: l.limits.String()})
}

// examineUnlinked goes the way of an agent that is not connected, as far as it leads through what is seen from here.
func (c *Controller) examineUnlinked(ctx context.Context, a Agent, public string) (hops []Hop) {
	if public == "" {
		hops = append(hops, Hop{Name: "address", Found: "not tried: public.url is not set"})
	} else if hops = c.examineAddress(ctx, public); hops[len(hops)-1].Err != nil {
		return hops
	}
	c.mu.Lock()
	_, err := c.linkOf(a.Name)
	last := refusal{}
	for _, r := range c.refused {
		if r.at.After(a.Seen) && (r.agent == a.Name || r.agent == "" && last.agent == "") {
			last = r
		}
	}
	c.mu.Unlock()
	if err == nil { // meanwhile
		return append(hops, Hop{Name: "connection", Found: "it has just come about"})
	}
	if last.err != nil {
		whose := "the last connection that was refused came"
		if last.agent != "" {
			whose = "its last connection was refused; it came"
		}
		err = fmt.Errorf("%w; %s from %s, at %s: %s", err, whose, last.address, day(last.at),
			visible.Line(fit(last.err.Error(), maxSaid)))
	}
	return append(hops, Hop{
		Name: "connection", Err: err,
		Remedy: "run dogwatch agent doctor on the host: it goes the way from there, and names the part that fails",
	})
}

// examineAddress dials the controller's own public address as an agent does.
func (c *Controller) examineAddress(ctx context.Context, public string) (hops []Hop) {
	add := func(name, found string, err error, remedy string) bool {
		hops = append(hops, Hop{Name: name, Found: found, Err: err, Remedy: remedy})
		return err == nil
	}
	name, found, err := resolve(ctx, public)
	if !add(name, found, err, "correct public.url, or the name in the DNS") {
		return hops
	}
	conn, err := dial(ctx, public)
	if !add("proxy", "WebSockets pass to "+public, err, "") {
		return hops
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	authority, _, err := c.open(false)
	var shown []byte
	if err == nil {
		err = tls.Client(conn, joiningTLS(authority.Fingerprint(), c.opt.Now, &shown)).HandshakeContext(ctx)
	}
	if errors.Is(err, errOtherController) {
		err = errors.New("another Dogwatch answers there")
	}
	add("controller", "what answers there is this Dogwatch", err, "correct public.url, or the proxy before Dogwatch")
	return hops
}

// String says what the owner of a host allows.
func (l Limits) String() string {
	said := "its owner allows updates"
	switch {
	case l.ReadOnly != "":
		said = "its owner allows no updates: " + l.ReadOnly
	case len(l.Stacks) > 0:
		said = "its owner allows updates of these stacks only: " + strings.Join(l.Stacks, ", ")
	}
	if l.ReadOnly == "" && !l.Hooks {
		said += "; the commands of hook labels do not run"
	}
	if l.Logs {
		said += "; the logs of containers may be read"
	}
	return said
}
