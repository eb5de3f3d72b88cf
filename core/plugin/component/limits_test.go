package component

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

type limitedOptions struct {
	Hang bool `option:"hang" default:"false" help:"Never respond"`
	Many int  `option:"many" default:"1" help:"How many hosts to report, each twice"`
}

// limited is a registry whose host has a limit.
type limited struct {
	*hub
	limitedOptions
}

func newLimited(env sdk.Env, o limitedOptions) (*limited, error) {
	return &limited{&hub{hosts: []registry.Host{{Pattern: env.Name + ".test"}}}, o}, nil
}

func (l *limited) Limits() []registry.Limit {
	if l.Hang {
		select {}
	}
	var limits []registry.Limit
	for i := range 2 * l.Many {
		limits = append(limits, registry.Limit{Host: fmt.Sprint(i%l.Many, ".", l.hosts[0].Pattern), Limit: 100})
	}
	return limits
}

// TestRateLimitsOfAllRegistries: a registry that does not respond costs the others nothing.
func TestRateLimitsOfAllRegistries(t *testing.T) {
	m := load(t, Options{},
		section(kind.Registry, "limited", "one", nil), section(kind.Registry, "limited", "two", nil),
		section(kind.Registry, "limited", "hangs", map[string]string{"hang": "true"}),
		section(kind.Registry, "limited", "many", map[string]string{"many": "400"}),
		section(kind.Registry, "limited", "wrong", map[string]string{"hang": "perhaps"}))
	all := m.Registries()
	want := map[string]string{
		"limited.one": "1 0.one.test 100", "limited.two": "1 0.two.test 100", "limited.many": "256 0.many.test 100",
	}
	// On a busy machine a response may come too late.
	patience, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var got map[string]string
	for !maps.Equal(got, want) && patience.Err() == nil {
		got = map[string]string{}
		for i, limits := range RateLimits(t.Context(), all) {
			if len(limits) > 0 {
				got[all[i].ID()] = fmt.Sprint(len(limits), " ", limits[0].Host, " ", limits[0].Limit)
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("limits %v, want %v", got, want)
	}
}
