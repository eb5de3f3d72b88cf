package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/config"
)

// trustPlugin has the Dogwatch that is serving trust a plugin, and returns where that
// is known. It records the trust in the store when none is serving, and where a login is
// configured: the API then accepts it from users who are logged in, not from tokens.
func trustPlugin(ctx context.Context, cfg *config.Config, name, sha256 string) (where string, err error) {
	c, err := newTrustedClient(cfg)
	if err == nil && !cfg.AuthRequired {
		err = c.post(ctx, pluginPath(name, "trust"), map[string]string{"sha256": sha256}, nil)
	}
	switch {
	case err == nil && !cfg.AuthRequired:
		return "by the Dogwatch at " + c.base, nil
	case err != nil && !errors.Is(err, errNotServing):
		return "", err
	}
	serving := err == nil
	if err := stored.TrustPlugin(ctx, cfg, name, sha256); err != nil {
		return "", err
	}
	where = "in the store " + cfg.StoreFile()
	if serving {
		err = c.call(ctx, http.MethodPost, pluginPath(name, "restart"), nil)
	}
	switch {
	case serving && err == nil:
		return where + ", and by the Dogwatch at " + c.base, nil
	case errors.Is(err, errNotServing):
		return where + "; " + err.Error(), nil
	}
	return "", fmt.Errorf("%s is trusted, but the Dogwatch at %s does not start it: %w", name, c.base, err)
}
