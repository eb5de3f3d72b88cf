package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/core/serve/api"
)

// healthTimeout is shorter than what container engines usually give a health check.
const healthTimeout = 4 * time.Second

func newHealthcheck(g *global) *cobra.Command {
	var url string
	var serving bool
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the configured server whether it is alive",
		Long: `Asks the server of this configuration whether it is alive, for the health check of
a container: exit code 0 says yes, 1 no. With server.enabled: false there is
nothing to ask, which is no failure. Where an agent runs, it is well unless the
Dogwatch that it has joined refuses it.`,
		Example: `  # in a compose file: test: ["CMD", "dogwatch", "healthcheck"]
  dogwatch healthcheck

  # a server that is not the one of this configuration
  dogwatch healthcheck --url http://127.0.0.1:3000/health`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), healthTimeout)
			defer cancel()
			if url != "" {
				return healthy(ctx, &client{base: url, http: localClient()}, "", serving)
			}
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			if runs, err := agent.Health(agentDir(cfg)); runs || err != nil {
				return err
			}
			if !cfg.Server.Enabled {
				fmt.Fprintln(g.stdout, "the server is switched off by server.enabled: nothing to ask")
				return nil
			}
			c, err := newClient(cfg.Server)
			if err != nil {
				return err
			}
			err = healthy(ctx, c, "/api/health", serving)
			if errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s does not answer within %s", c.base, healthTimeout)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&serving, "serving", false, "fail also while it waits for the lease that another Dogwatch holds")
	cmd.Flags().StringVar(&url, "url", "", "ask this `address` instead, such as http://127.0.0.1:3000/health")
	return cmd
}

// healthy asks a server whether it is alive, and if need be whether it serves.
func healthy(ctx context.Context, c *client, path string, serving bool) error {
	if !serving {
		return c.call(ctx, http.MethodGet, path, nil)
	}
	var health api.Health
	err := c.call(ctx, http.MethodGet, path, &health)
	if err == nil && health.Waiting {
		err = errors.New("it waits for the lease that another Dogwatch holds")
	}
	return err
}
