// Command trigger-portainer is a Dogwatch plugin with one type of trigger, "portainer",
// which has Portainer update the stacks that it manages: it changes the image in the
// file of a stack and deploys it.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{portainerType()}})
}

func portainerType() trigger.Type {
	return trigger.Define("portainer", "Have Portainer update its stacks", newPortainer, kind.Deliver(kind.AtMostOnce))
}

// options are the schema that the host documents and checks. A deployment takes longer than other requests: until
// version 2.36 Portainer responds once images are pulled and containers are created.
type options struct {
	URL         *url.URL       `option:"url,required" help:"Address of Portainer" example:"https://portainer:9443"`
	APIKey      string         `option:"apikey,required,secret" help:"Access token of a user of Portainer who may update the stacks" example:"ptr_an-access-token"`
	Stacks      []string       `option:"stacks" help:"Stacks that may be updated, as NAME or WATCHER/NAME; all of them unless it is set" example:"media"`
	Environment int            `option:"environment" default:"0" min:"0" help:"Id of the environment in Portainer whose stacks are updated; 0 for those of all"`
	Timeout     time.Duration  `option:"timeout" default:"10m" help:"Longest time for the deployment of a stack, with its pull"`
	Proxy       *url.URL       `option:"proxy,secret,mask=url" help:"Proxy for every request, http://, https:// or socks5://, with user:password@ when it asks for them; without it HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply"`
	TLS         httpclient.TLS `option:"tls"`
}

// portainer carries out one delivery at a time: two of one stack would overwrite each other's file.
type portainer struct {
	options
	env    sdk.Env
	client *httpclient.Client
	pause  time.Duration // between two looks at a stack that is being deployed
	turn   chan struct{}
}

func newPortainer(env sdk.Env, o options) (*portainer, error) {
	switch {
	case o.URL.Scheme != "http" && o.URL.Scheme != "https" || o.URL.Host == "":
		return nil, sdk.Invalid("url", "want an address that starts with http:// or https://")
	case o.Timeout <= 0:
		return nil, sdk.Invalid("timeout", "want a time above 0")
	case slices.Contains(o.Stacks, ""):
		return nil, sdk.Invalid("stacks", "one of them is empty")
	}
	client, err := httpclient.New(env, httpclient.Options{Timeout: o.Timeout, Proxy: o.Proxy, TLS: o.TLS}, o.APIKey)
	if err != nil {
		return nil, err
	}
	return &portainer{
		options: o, env: env, client: client, pause: min(2*time.Second, o.Timeout/20), turn: make(chan struct{}, 1),
	}, nil
}

// updates are those of the services of one stack.
type updates struct {
	stack   string
	changes []change
}

// updatesOf are the updates of containers that are of a stack that may be updated, each service once; and what
// keeps others from being updated.
func (p *portainer) updatesOf(containers []sdk.Container) (all []updates, problem error) {
	for _, c := range containers {
		if c.Stack == "" || len(p.Stacks) > 0 && !slices.Contains(p.Stacks, c.Stack) &&
			!slices.Contains(p.Stacks, c.Watcher+"/"+c.Stack) {
			p.env.Log.Debug("of no stack that may be updated", "container", c.Name)
			continue
		}
		one, err := changeOf(c)
		if err != nil {
			problem = errors.Join(problem, err)
			continue
		}
		i := slices.IndexFunc(all, func(u updates) bool { return u.stack == c.Stack })
		if i < 0 {
			i, all = len(all), append(all, updates{stack: c.Stack})
		}
		if !slices.Contains(all[i].changes, one) {
			all[i].changes = append(all[i].changes, one)
		}
	}
	return all, problem
}

// Run returns when Portainer has deployed each stack once with all its updates. A sample
// message changes nothing: it shows whether the stacks can be read.
func (p *portainer) Run(ctx context.Context, req trigger.Request) error {
	if req.Test {
		_, err := p.Probe(ctx, sdk.ProbeRequest{})
		return err
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	all, problem := p.updatesOf(req.Containers)
	if len(all) == 0 {
		return problem
	}
	stacks, err := p.list(ctx)
	if err != nil {
		return err
	}
	for i, u := range all {
		s, err := p.find(stacks, u.stack)
		if err == nil && s.ID != 0 {
			req.Report(trigger.Progress{Phase: "deploy", Message: s.Name, Current: int64(i), Total: int64(len(all))})
			err = p.update(ctx, s, u.changes)
		}
		switch {
		case err != nil:
			problem = errors.Join(problem, fmt.Errorf("stack %s: %w", u.stack, err))
		case s.ID == 0:
			p.env.Log.Info("no stack of Portainer", "stack", u.stack)
		default:
			p.env.Log.Info("deployed", "stack", u.stack)
		}
	}
	return problem
}

// find returns the stack that Compose or the swarm know by a name; without an id when there is none. Portainer may
// have given it another one, see normal.
func (p *portainer) find(stacks []stack, name string) (stack, error) {
	found := slices.DeleteFunc(slices.Clone(stacks), func(s stack) bool {
		return s.Name != name && normal(s.Name) != name || p.Environment != 0 && s.Environment != p.Environment
	})
	if len(found) > 1 {
		return stack{}, sdk.Invalid("environment",
			"the environments %d and %d of Portainer have a stack of that name; say which",
			found[0].Environment, found[1].Environment)
	}
	return append(found, stack{})[0], nil
}

// Probe looks which stacks there are.
func (p *portainer) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	stacks, err := p.list(ctx)
	if err != nil {
		return sdk.ProbeResult{}, err
	}
	result := sdk.ProbeResult{Summary: fmt.Sprintf("stacks in Portainer: %d", len(stacks))}
	for _, entry := range p.Stacks {
		name := entry[strings.LastIndex(entry, "/")+1:]
		switch s, err := p.find(stacks, name); {
		case err != nil:
			return sdk.ProbeResult{}, fmt.Errorf("stack %s: %w", name, err)
		case s.ID == 0:
			result.Warnings = append(result.Warnings, "there is no stack "+name+", or its user may not see it")
		}
	}
	return result, nil
}

// Close is called once, after the last call.
func (p *portainer) Close() error {
	p.client.Close()
	return nil
}

// call makes a request of the API, https://docs.portainer.io/api/docs, with the token in the header of
// https://docs.portainer.io/api/access.
func (p *portainer) call(ctx context.Context, method, below string, in, out any) error {
	header := http.Header{"X-Api-Key": {p.APIKey}}
	return p.client.JSON(ctx, method, p.URL.JoinPath("api").String()+below, header, in, out)
}
