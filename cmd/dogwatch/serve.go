package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core"
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
)

// gcPercent makes the garbage collector of the daemon as eager as those of its
// plugins, unless GOGC says otherwise: the memory that this saves is worth more
// than the time it costs, see docs/performance.md.
const gcPercent = 50

func newServe(g *global) *cobra.Command {
	var strict bool
	var port int
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Watch, notify and serve the API (the default)",
		Example: "  dogwatch serve --port 3001",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := map[string]any{}
			if cmd.Flags().Changed("port") {
				flags["server.port"] = port
			}
			cfg, err := g.load(flags)
			if err != nil {
				return err
			}
			return g.serve(cmd.Context(), cfg, strict, nil)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "stop when anything in the configuration is wrong, even a misspelt option")
	cmd.Flags().IntVarP(&port, "port", "p", 3000, "port to listen on")
	return cmd
}

// serve runs the daemon until ctx ends. listening, if set, is told the address
// of the server.
func (g *global) serve(ctx context.Context, cfg *config.Config, strict bool, listening func(net.Addr)) error {
	if strict {
		if err := config.Verdict(cfg.Problems, true); err != nil {
			return err
		}
	}
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
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	log.Info("dogwatch starts", "version", version, "config", cfg.File, "store", cfg.Store.Path)
	app, err := core.New(ctx, core.Options{
		Config: cfg, Builtins: builtins(), Version: version, Log: log, Redactor: redactor, Strict: strict, Listening: listening,
	})
	if err != nil {
		return err
	}
	defer app.Close()
	err = app.Run(ctx)
	var invalid *config.InvalidError
	if errors.As(err, &invalid) {
		return fmt.Errorf("the configuration is wrong and --strict is set:\n%w", err)
	}
	log.Info("dogwatch stopped")
	return err
}
