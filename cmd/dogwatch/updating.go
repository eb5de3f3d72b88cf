package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/app/lookup"
	"github.com/dogwatch/dogwatch/core/serve/api"
	"github.com/dogwatch/dogwatch/sdk"
)

// updating is a session with the Dogwatch that is serving.
type updating struct {
	*client
	containers []sdk.Container
}

// openUpdating connects to the Dogwatch that is serving, which the caller closes.
func (g *global) openUpdating(ctx context.Context) (*updating, error) {
	cfg, err := g.load(nil)
	if err != nil {
		return nil, err
	}
	c, err := newTrustedClient(cfg)
	if err != nil {
		return nil, err
	}
	c.keeps = true
	u := &updating{client: c}
	if err := c.call(ctx, http.MethodGet, "/api/containers", &u.containers); err != nil {
		err = errors.Join(err, c.close())
		if errors.Is(err, errNotServing) {
			err = fmt.Errorf("%w; containers are updated by one that is", err)
		}
		return nil, err
	}
	return u, nil
}

// selected returns the containers that a command is for.
func (u *updating) selected(f updateFlags, names []string) ([]sdk.Container, error) {
	var found []sdk.Container
	if f.all {
		for _, c := range u.containers {
			if c.UpdateAvailable && c.Base == nil && (f.step == "" || isStep(&c, f.step) || mayStep(&c, f.step)) {
				found = append(found, c)
			}
		}
		return found, nil
	}
	for _, name := range names {
		c, err := lookup.One(u.containers, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(known sdk.Container) bool { return known.ID == c.ID }) {
			found = append(found, c)
		}
	}
	return found, nil
}

// planned is a container with its plan.
type planned struct {
	container sdk.Container
	plan      api.Plan
}
