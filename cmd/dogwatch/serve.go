package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dogwatch/dogwatch/core/app"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/plugin"
)

// defaultPort is where commands look for a Dogwatch that serves.
const defaultPort = 3000

func newServe(g *global) *cobra.Command {
	var strict bool
	var port int
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Watch, notify and serve the pages and the API (the default)",
		Long: `Watches the containers of the configured engines, asks registries for newer
images, runs triggers, and serves the pages, the API and the metrics, until it is
told to stop. Without configuration it watches the local Docker socket and serves
on port 3000.`,
		Example: `  # with everything at its default
  dogwatch serve

  # with a file, on another port
  dogwatch serve --config dogwatch.yaml --port 3001

  # settings may stand in the environment
  DOGWATCH_TRIGGER_NTFY_PHONE_TOPIC=my-updates dogwatch serve`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]any{}
			if cmd.Flags().Changed("port") {
				flags["server.port"] = port
			}
			cfg, err := g.load(flags)
			if err != nil {
				return err
			}
			return g.withLease(cmd.Context(), cfg, func(ctx context.Context) error {
				return g.serve(ctx, cfg, app.Options{
					Strict: strict, Reload: func() (*config.Config, error) { return g.load(flags) },
				})
			})
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false,
		"stop when anything in the configuration is wrong, even a misspelt option")
	cmd.Flags().IntVarP(&port, "port", "p", defaultPort, "port to listen on")
	return cmd
}

// serve runs Dogwatch until ctx ends, with other configurations when it is reloaded and
// everything has to restart for that. Of the options it completes what every server has
// in common.
func (g *global) serve(ctx context.Context, cfg *config.Config, opt app.Options) error {
	if opt.Strict {
		if err := config.Verdict(cfg.Problems, true); err != nil {
			return err
		}
	}
	hangups := make(chan os.Signal, 1)
	if opt.Reload != nil && !endsWithTerminal() {
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
	}
	opt.Hangups = hangups
	g.recent = logging.NewRecent()
	opt.Recent = g.recent
	var before *config.Config // with which it ran, until it has started with cfg
	for {
		opt.Started = func() { before = nil }
		err := g.serveWith(ctx, cfg, opt)
		var again *app.RestartError
		switch {
		case errors.As(err, &again):
			before, cfg = cfg, again.Config
		case err != nil && before != nil && ctx.Err() == nil:
			fmt.Fprintf(g.stderr,
				"dogwatch: cannot start with the configuration that was reloaded, and goes on with the one before: %v\n", err)
			before, cfg = nil, before
		default:
			return err
		}
	}
}

// endsWithTerminal reports whether the end of a terminal (SIGHUP) ends this process: it
// was started there by hand, and is no service, nor the first process of a container.
func endsWithTerminal() bool {
	return os.Getpid() != 1 && term.IsTerminal(int(os.Stdin.Fd()))
}

// serveWith runs Dogwatch with one configuration.
func (g *global) serveWith(ctx context.Context, cfg *config.Config, opt app.Options) error {
	log, redactor, err := g.logger(cfg)
	if err != nil {
		return err
	}
	for _, p := range cfg.Problems {
		if p.Level == config.Error {
			log.Error("configuration", "problem", p.String())
		} else {
			log.Warn("configuration", "problem", p.String())
		}
	}
	if err := plugin.Harden(); err != nil {
		log.Warn("harden this process", "error", err)
	}
	log.Info("dogwatch starts", "version", version, "config", cfg.File, "store", cfg.Store.Path)
	if opt.Listening == nil {
		opt.Listening = func(address net.Addr) { log.Info("open " + openAt(cfg.Settings, address)) }
	}
	opt.Options = madeOf(cfg, log, redactor)
	opt.Logins = func() app.RegistryLogins { return &registryLogins{cfg: cfg, log: log, redactor: redactor} }
	if opt.Gallery, err = newGallery(cfg); err != nil {
		return err
	}
	host, err := app.New(ctx, opt)
	if err != nil {
		return err
	}
	defer host.Close()
	collectEagerly()
	err = host.Run(ctx)
	var invalid *config.InvalidError
	var again *app.RestartError
	if errors.As(err, &again) {
		return err
	}
	if errors.As(err, &invalid) {
		return fmt.Errorf("the configuration is wrong and --strict is set:\n%w", invalid)
	}
	log.Info("dogwatch stopped")
	return err
}

// openAt returns the address at which a browser finds a server that listens at
// an address: that of public.url, or else one for this machine.
func openAt(s config.Settings, address net.Addr) string {
	if s.PublicURL != nil {
		return strings.TrimRight(s.PublicURL.String(), "/") + "/"
	}
	scheme := "http://"
	if s.Server.TLS.Enabled {
		scheme = "https://"
	}
	return scheme + reachable(address) + s.Server.BasePath
}

// reachable returns the address of a listener as this machine reaches it.
func reachable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() && !tcp.IP.Equal(net.IPv4(127, 0, 0, 1)) && !tcp.IP.Equal(net.IPv6loopback) {
		return address.String()
	}
	return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
}

// collectEagerly makes the garbage collector of a process that stays eager, unless GOGC says otherwise: the memory
// that this saves is worth more than the time it costs, but not while packages are set up. See docs/benchmarks.md.
func collectEagerly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
}
