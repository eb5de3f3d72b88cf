package agent

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
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
