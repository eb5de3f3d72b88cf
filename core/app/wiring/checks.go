package wiring

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/registryquery"
	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// Registries fits the components to registryquery.Registries.
type Registries struct{ Components *component.Manager }

// For implements registryquery.Registries.
func (r Registries) For(host string) (registryquery.Match, bool) {
	c, url, served := r.Components.RegistryFor(host)
	if !served {
		return registryquery.Match{}, false
	}
	m := registryquery.Match{ID: c.ID(), URL: url, Registry: c}
	if c.Can(kind.CapTags) {
		m.Describer = c
	}
	return m, true
}

// Limits returns what the hosts of a registry allow, for registryquery.Options.
func (r Registries) Limits(ctx context.Context, id string) []registry.Limit {
	c, known := r.Components.Registry(id)
	if !known {
		return nil
	}
	return c.RateLimits(ctx)
}

// Budget returns the book of the requests to registries, with what is configured of them and
// those that were made before this start.
func Budget(
	ctx context.Context, c *config.Config, s *store.Store, log hclog.Logger, now func() time.Time,
) *budget.Book {
	b := budget.NewBook(c.Check.Allowances(), now)
	all, err := s.Requests(ctx)
	if err != nil {
		log.Warn("read how many requests were made before this start; they do not count", "error", err)
	}
	b.Load(all)
	return b
}

// Cache fits the store to registryquery.Cache. A cache that fails costs requests
// and nothing else, so its errors are only logged.
type Cache struct {
	Store *store.Store
	Log   hclog.Logger
}

// Get implements registryquery.Cache.
func (c Cache) Get(ctx context.Context, key string) (string, []byte, bool) {
	e, found, err := c.Store.CacheGet(ctx, key)
	if err != nil {
		c.Log.Warn("read the registry cache", "error", err)
	}
	return e.Validator, e.Body, found
}

// Put implements registryquery.Cache.
func (c Cache) Put(ctx context.Context, key, validator string, body []byte) {
	if err := c.Store.CachePut(ctx, store.CacheEntry{Key: key, Validator: validator, Body: body}); err != nil {
		c.Log.Warn("write the registry cache", "error", err)
	}
}
