package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/lease"
)

// releaseTimeout bounds how long the end of the program waits until the lease is given up.
const releaseTimeout = 3 * time.Second

// leaseOf returns the lease of a configuration, which has one.
func leaseOf(cfg *config.Config, log hclog.Logger) (*lease.Lease, error) {
	return lease.New(lease.Options{
		Name: cfg.Lease.Name, Namespace: cfg.Lease.Namespace, Kubeconfig: cfg.Lease.Kubeconfig,
		Duration: cfg.Lease.Duration, UserAgent: userAgent(), Log: log,
	})
}

// withLease has serve run while this process holds the lease of a configuration, for which it waits, if there is one.
// When the lease is lost, serve is cancelled; the process is killed should it not have ended before another Dogwatch
// may hold the lease.
func (g *global) withLease(ctx context.Context, cfg *config.Config, serve func(context.Context) error) error {
	if cfg.Lease.Name == "" {
		return serve(ctx)
	}
	log, _, err := g.logger(cfg)
	if err != nil {
		return err
	}
	log = log.Named("lease")
	l, err := leaseOf(cfg, log)
	if err != nil {
		return err
	}
	stop, err := api.ServeWaiting(cfg.Server, log)
	if err != nil {
		return err
	}
	err = l.Acquire(ctx)
	stop()
	if err != nil {
		return nil // it was told to stop
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	renewing, end := context.WithCancel(context.Background())
	held := make(chan error, 1)
	go func() {
		err := l.Hold(renewing)
		if err != nil {
			log.Error("stops, since another Dogwatch may act", "error", err)
			time.AfterFunc(time.Until(l.Until()), func() {
				log.Error("ends at once: the lease has expired")
				os.Exit(exitFailure)
			})
			cancel()
		}
		held <- err
	}()
	err = serve(ctx)
	end()
	if lost := <-held; lost != nil {
		return errors.Join(lost, err)
	}
	releasing, done := context.WithTimeout(context.Background(), releaseTimeout)
	defer done()
	if failed := l.Release(releasing); failed != nil {
		log.Warn("give up the lease, which expires by itself", "error", fmt.Sprint(failed))
	}
	return err
}
