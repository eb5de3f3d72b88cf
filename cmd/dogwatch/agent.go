package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app/oneshot"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func newAgent(g *global) *cobra.Command {
	var name string
	var owner owner
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Watch this host for a Dogwatch elsewhere, which it dials",
		Long: `Runs the agent of a host that nothing can reach from outside, until it is told to stop:
it dials the Dogwatch that it has joined, and that lists the containers of this host with
its own. There are no pages here, no database of containers, and no registries.

The engine is that of the configuration here, as for dogwatch serve; without any it is the
local Docker socket. What the agent is, and what it does, is kept in the folder agent of
store.path.

That Dogwatch updates containers of this host only where the watcher here may, by its
option update, and only as the flags here say: it cannot widen them. They are read from
` + config.AgentReadOnlyVariable + `, ` + config.AgentStacksVariable + `,
` + config.AgentAllowHooksVariable + ` and ` + config.AgentLogsVariable + `, too.`,
		Example: `  # where Dogwatch serves: a token, which works once and for ten minutes
  dogwatch agent token --name nas

  # on the host: join, and run
  dogwatch agent join https://dogwatch.example.org --token TOKEN
  dogwatch agent

  # let it update what belongs to two stacks
  DOGWATCH_WATCHER_LOCAL_UPDATE=true dogwatch agent --stacks media,web`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := owner.complete(cmd.Flags()); err != nil {
				return err
			}
			return g.agent(cmd.Context(), name, owner)
		},
	}
	cmd.Flags().BoolVar(&owner.readOnly, "read-only", false, "let nothing be updated, whatever the option update says")
	cmd.Flags().StringSliceVar(&owner.stacks, "stacks", nil, "let only containers of these stacks be updated")
	cmd.Flags().BoolVar(&owner.hooks, "allow-hooks", false, "let updates run the commands of hook labels in containers")
	cmd.Flags().BoolVar(&owner.logs, "logs", false, "let the last lines that containers wrote be read")
	cmd.Flags().StringVar(&name, "watcher", "", "name of the watcher, where several are configured")
	cmd.AddCommand(newAgentJoin(g), newAgentToken(g), newAgentList(g), newAgentRename(g), newAgentRevoke(g),
		newAgentDoctor(g))
	return cmd
}

// agentDir is the folder of the agent of this host.
func agentDir(cfg *config.Config) string { return filepath.Join(cfg.Store.Path, "agent") }

// agent runs the agent of this host.
func (g *global) agent(ctx context.Context, name string, owner owner) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	owner.configure(cfg, name)
	dir := agentDir(cfg)
	if _, err := agent.LoadIdentity(dir); err != nil {
		return err
	}
	lock, err := store.Acquire(filepath.Join(dir, "agent"))
	if err != nil {
		return err
	}
	defer lock.Release()
	log, redactor, err := g.logger(cfg)
	if err != nil {
		return err
	}
	if err := plugin.Harden(); err != nil {
		log.Warn("harden this process", "error", err)
	}
	one, err := oneshot.New(madeOf(cfg, log, redactor), kind.Watcher)
	if err != nil {
		return err
	}
	defer one.Close()
	if err := one.Load(ctx); err != nil {
		return err
	}
	w, err := watcherOf(one.Watchers(), name)
	if err != nil {
		return err
	}
	limits := owner.limits(w)
	log.Info("the agent starts", "version", version, "watcher", w.ID(), "folder", dir, "updates", limits.ReadOnly == "",
		"stacks", limits.Stacks, "hooks", limits.Hooks, "logs", limits.Logs)
	operations, err := agent.OpenOperations(dir, w, log.Named("agent"))
	if err != nil {
		return err
	}
	defer operations.Close()
	collectEagerly()
	return agent.Run(ctx, agent.HostOptions{
		Dir: dir, Version: version, Watcher: agent.NewWatcher(w, operations, limits, redactor.String),
		Log: log.Named("agent"), Now: time.Now,
	})
}

// watcherOf returns the watcher that an agent passes on.
func watcherOf(all []*component.Watcher, name string) (*component.Watcher, error) {
	var names []string
	for _, w := range all {
		if w.Name == name || name == "" && len(all) == 1 {
			if !w.Usable() {
				_, err := w.State()
				return nil, err
			}
			return w, nil
		}
		names = append(names, w.Name)
	}
	switch {
	case name == "" && len(names) > 0:
		return nil, usage(fmt.Errorf("several watchers are configured: choose one with --watcher, of %s",
			strings.Join(names, ", ")))
	case len(names) == 0:
		return nil, errors.New("no watcher is configured")
	}
	return nil, usage(fmt.Errorf("no watcher is called %q; there is %s", name, strings.Join(names, ", ")))
}

func newAgentJoin(g *global) *cobra.Command {
	var token, name string
	cmd := &cobra.Command{
		Use:   "join URL --token TOKEN",
		Short: "Make this host an agent of the Dogwatch at an address",
		Long: `Joins the Dogwatch whose pages are at an address, with a token that dogwatch agent token
printed there. The token tells which Dogwatch that is: what answers with the certificate
of another one gets nothing. This host makes a key, which stays in the folder agent of
store.path, and gets a certificate for it, which is valid for 90 days and renews itself.

Proxies on the way are those of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`,
		Example: `  # with the name of the host
  dogwatch agent join https://dogwatch.example.org --token TOKEN

  # in the network at home, without TLS before Dogwatch: it has its own
  dogwatch agent join http://10.0.0.5:3000 --token TOKEN --name nas

  # past the pages and what is before them, where agents.listen is set to :3443
  dogwatch agent join tcp://10.0.0.5:3443 --token TOKEN`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			joined, err := agent.Join(cmd.Context(), agent.JoinOptions{
				Dir: agentDir(cfg), URL: args[0], Token: token, Name: name, Version: version, Now: time.Now,
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(g.stdout, "this host has joined %s as %s; now run: dogwatch agent\n", joined.URL, joined.Name)
			return err
		},
	}
	cmd.Flags().StringVar(&token, "token", "", "what dogwatch agent token printed")
	cmd.Flags().StringVar(&name, "name", agent.DefaultName(), "what it is called, unless the token has a name")
	cmd.Flag("name").DefValue = "" // which differs from host to host
	_ = cmd.MarkFlagRequired("token")
	return cmd
}

func newAgentToken(g *global) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make a token with which a host joins as an agent",
		Long: `Has the Dogwatch that is serving make a token with which one host can join it, once and
within ten minutes, and prints the command for that host. The token is a secret. With a
name the agent is called so, and an agent that was called so before is replaced.`,
		Example: `  # a host that is called nas here, whatever its own name is
  dogwatch agent token --name nas

  # one that has a good name already
  dogwatch agent token`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.trustedClient()
			if err != nil {
				return err
			}
			var made service.AgentToken
			if err := c.post(cmd.Context(), "/api/agents", map[string]string{"name": name}, &made); err != nil {
				return err
			}
			if made.URL == "" {
				fmt.Fprintln(g.stderr, "URL is the address of the pages, as that host reaches it; public.url sets it")
			}
			fmt.Fprintf(g.stderr, "it works once, until %s; on the host run:\n", made.ExpiresAt.Local().Format("15:04"))
			_, err = fmt.Fprintln(g.stdout, made.Command())
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the agent is called (default: the name of its host)")
	return cmd
}

func newAgentList(g *global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agents that have joined",
		Long: `Lists the agents of the Dogwatch that is serving: whether each is connected, from where,
with which version, and what the owner of its host allows.`,
		Example: `  # a table
  dogwatch agent list

  # for a script
  dogwatch agent list --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.trustedClient()
			if err != nil {
				return err
			}
			rows := []service.Agent{}
			if err := c.call(cmd.Context(), http.MethodGet, "/api/agents", &rows); err != nil {
				return err
			}
			if asJSON {
				return printJSON(g.stdout, rows)
			}
			return writeAgents(g.stdout, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the API does")
	return cmd
}

func writeAgents(w io.Writer, all []service.Agent) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no agents have joined; make a token with: dogwatch agent token")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tCONNECTED\tADDRESS\tVERSION\tJOINED\tUPDATES\tLOGS")
	for _, a := range all {
		connected := "never"
		switch {
		case a.Connected:
			connected = "since " + minute(a.Since)
		case !a.SeenAt.IsZero():
			connected = "last " + minute(a.SeenAt)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable(a.Name), connected, printable(a.Address), printable(a.Version),
			day(a.JoinedAt.Time, ""), allowedUpdates(a.Limits), allowedLogs(a.Limits))
	}
	return t.Flush()
}

// allowedUpdates says in a few words what the owner of a host allows.
func allowedUpdates(l *service.AgentLimits) string {
	switch {
	case l == nil:
		return ""
	case l.ReadOnly != "":
		return "none"
	case len(l.Stacks) > 0:
		return "stacks " + printable(strings.Join(l.Stacks, ", "))
	}
	return "all"
}

// allowedLogs says whether the owner of a host lets logs be read.
func allowedLogs(l *service.AgentLimits) string {
	switch {
	case l == nil:
		return ""
	case l.Logs:
		return "yes"
	}
	return "no"
}

func minute(at sdk.Time) string { return at.Local().Format("2006-01-02 15:04") }

func newAgentRename(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "rename NAME NEW",
		Short: "Give an agent another name",
		Long: `Gives an agent of the Dogwatch that is serving another name. Its watcher has that name
from then on, in pages, labels and variables: DOGWATCH_WATCHER_AGENT_NEW_….`,
		Example: `  # which agents are there?
  dogwatch agent list

  # the host has moved
  dogwatch agent rename nas attic`,
		Args: exactly(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.trustedClient()
			if err != nil {
				return err
			}
			path := "/api/agents/" + url.PathEscape(args[0]) + "/rename"
			if err := c.post(cmd.Context(), path, map[string]string{"name": args[1]}, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(g.stdout, "agent %s is called %s\n", args[0], args[1])
			return err
		},
	}
}

func newAgentRevoke(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "End an agent at once",
		Long: `Ends an agent of the Dogwatch that is serving: its connection, and its right to dial in.
Its containers are forgotten. The host can join again with another token.`,
		Example: `  # which agents are there?
  dogwatch agent list

  # the host was stolen
  dogwatch agent revoke nas`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.trustedClient()
			if err != nil {
				return err
			}
			if err := c.call(cmd.Context(), http.MethodDelete, "/api/agents/"+url.PathEscape(args[0]), nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(g.stdout, "agent %s is revoked\n", args[0])
			return err
		},
	}
}

func newAgentDoctor(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps this host's agent from its Dogwatch",
		Long: `Goes the way from this host to the Dogwatch that it has joined, and says which part does
not work: the certificate, the name or the proxy, the connection, what the Dogwatch says,
and the engine here. The agent may run meanwhile, and nothing changes.

Exit code 0: all of it works. 1: a part does not.`,
		Example: `  # on the host, as the agent is run
  dogwatch agent doctor

  # in its container
  docker exec dogwatch-agent dogwatch agent doctor`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return g.agentDoctor(cmd.Context()) },
	}
}

func (g *global) agentDoctor(ctx context.Context) error {
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	hops := agent.Examine(ctx, agent.HostOptions{Dir: agentDir(cfg), Version: version, Now: time.Now})
	one, _, err := g.newOneShotWith(cfg, kind.Watcher)
	if err != nil {
		return err
	}
	defer one.Close()
	if err := one.Load(ctx); err != nil {
		return err
	}
	for _, w := range one.Watchers() {
		found, err := w.List(ctx)
		hops = append(hops, agent.Hop{
			Name: "engine", Found: fmt.Sprintf("%s lists %d containers", w.ID(), len(found)), Err: err,
		})
	}
	var failed error
	for _, h := range hops {
		if h.Err != nil {
			failed = errors.New("something does not work")
			fmt.Fprintf(g.stdout, "FAIL  %s: %s\n", h.Name, printable(h.Err.Error()))
			continue
		}
		fmt.Fprintf(g.stdout, "OK    %s: %s\n", h.Name, printable(h.Found))
	}
	return failed
}
