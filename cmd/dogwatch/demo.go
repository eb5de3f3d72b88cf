package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/app"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// demoStep is how often a new image appears in the simulated homelab.
const demoStep = 12 * time.Second

func newDemo(g *global) *cobra.Command {
	var port int
	var plugins string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Serve with a simulated engine and simulated registries",
		Long: `Serves as ever, but with a simulated homelab to watch: an engine with some twenty
containers, and the registries of their images, where new versions appear now and
then. It needs no engine and no network, and leaves nothing behind. Of the
configuration only the variables of the address count: DOGWATCH_SERVER_HOST and
DOGWATCH_SERVER_PORT; with --plugins, those of the types of your plugins, too.

The containers can be updated and rolled back, on the page and with the commands: try
dogwatch update proxy, and dogwatch rollback proxy. The new version of broker fails its
health check, so that the old container comes back; shop is updated by itself. Each start
begins anew.`,
		Example: `  # on port 3000
  dogwatch demo

  # beside a Dogwatch that serves
  dogwatch demo --port 3001

  # with a plugin that is being written; DOGWATCH_TRIGGER_LAMP_MAIN_URL is set
  dogwatch demo --plugins trigger-lamp/plugins`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]any{}
			if cmd.Flags().Changed("port") {
				flags["server.port"] = port
			}
			if plugins != "" {
				if info, err := os.Stat(plugins); err != nil || !info.IsDir() {
					return usage(fmt.Errorf("--plugins %s: there is no such folder", plugins))
				}
				flags["plugins.dir"] = plugins
			}
			return g.demo(cmd.Context(), flags)
		},
	}
	cmd.Flags().IntVarP(&port, "port", "p", defaultPort, "port to listen on; by default the next one where 3000 is taken")
	cmd.Flags().StringVar(&plugins, "plugins", "", "`folder` with executables of plugins to use, too")
	_ = cmd.MarkFlagDirname("plugins")
	return cmd
}

// addressVariables are those of the environment that count for the demo, too.
var addressVariables = []string{"DOGWATCH_SERVER_HOST", "DOGWATCH_SERVER_BIND", "DOGWATCH_SERVER_PORT",
	"WUD_SERVER_PORT"}

// addressOf returns the variables of an environment that say where to listen.
func addressOf(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(addressVariables, strings.ToUpper(name))
	})
}

// portFrom returns the first port from one on on which nobody listens; that one if there is none near.
func portFrom(ctx context.Context, host string, port int) int {
	const near = 20
	var listen net.ListenConfig
	for next := port; next < port+near; next++ {
		if l, err := listen.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(next))); err == nil {
			l.Close()
			return next
		}
	}
	return port
}

// thirdParty returns the variables of an environment that configure types which are not built in.
func thirdParty(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		words := strings.Split(strings.ToLower(name), "_")
		if len(words) < 5 || words[0] != "dogwatch" || !slices.Contains(kind.Kinds(), kind.Kind(words[1])) {
			return true
		}
		_, builtin := schemaOf(kind.Kind(words[1]), words[2])
		return builtin
	})
}

// demo serves the homelab. flags are settings of the command line.
func (g *global) demo(ctx context.Context, flags map[string]any) error {
	dir, err := os.MkdirTemp("", "dogwatch-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o700); err != nil {
		return err
	}
	lab, err := openHomelab(demoRules)
	if err != nil {
		return err
	}
	defer lab.close()
	if err := lab.remember(ctx, dir, time.Now()); err != nil {
		return err
	}
	flags["store.path"] = dir
	if g.logLevel != "" {
		flags["log.level"] = g.logLevel
	}
	environ := slices.Concat(lab.environment(), demoPolicies(), demoSettings(), addressOf(os.Environ()))
	if flags["plugins.dir"] != nil {
		environ = append(environ, thirdParty(os.Environ())...)
	}
	cfg, err := config.Load(config.Input{
		Environ: environ, Flags: flags, WatcherTypes: watcherTypes(), DockerOptions: dockerOptions(),
		Open: func(string) (fs.File, error) { return nil, fs.ErrNotExist },
	})
	if err != nil {
		return err
	}
	if _, asked := flags["server.port"]; !asked && len(addressOf(os.Environ())) == 0 {
		cfg.Server.Port = portFrom(ctx, cfg.Server.Host, cfg.Server.Port)
	}
	living, stop := context.WithCancel(ctx)
	lived := make(chan struct{})
	go func() {
		defer close(lived)
		lab.live(living, demoStep)
	}()
	err = g.serve(ctx, cfg, app.Options{Demo: true, Listening: func(address net.Addr) { g.welcome(lab, address) }})
	stop()
	<-lived
	return err
}

// welcome says what there is to see.
func (g *global) welcome(lab *homelab, address net.Addr) {
	fmt.Fprintf(g.stdout, `Demo: %d simulated containers and %d simulated registries; nothing leaves this machine.

  http://%[3]s/
  curl http://%[3]s/api/containers
  curl -X POST http://%[3]s/api/containers/watch
  curl -N -H 'Accept: text/event-stream' http://%[3]s/api/events

The containers can be updated, there and here. The new version of broker does not work:

  %[4]sdogwatch update proxy
  %[4]sdogwatch rollback proxy
  %[4]sdogwatch update broker

New versions appear while it runs. Ctrl-C stops it.
`, len(lab.apps), len(lab.sites), reachable(address), portSetting(address))
}

// portSetting is what stands before a command that is to find a server at an address; "" for the default port.
func portSetting(address net.Addr) string {
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.Port != defaultPort {
		return fmt.Sprintf("DOGWATCH_SERVER_PORT=%d ", tcp.Port)
	}
	return ""
}
