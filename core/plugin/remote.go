package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
)

// Remote has instances in processes that this host does not start: those of agents on other hosts.
type Remote interface {
	// Client returns a client of the process that has the instance with an id, such as "watcher.agent.nas". The error
	// says why there is none now; with wait there is one, or ctx has ended.
	Client(ctx context.Context, id string, wait bool) (*pluginclient.Client, error)
}

// Elsewhere is the Remote of a program to which no agent is connected: all calls fail.
type Elsewhere struct{}

// Client implements Remote.
func (Elsewhere) Client(context.Context, string, bool) (*pluginclient.Client, error) {
	return nil, errors.New("agents are connected with the Dogwatch that serves; ask its pages or its API")
}

// callRemote makes a call of an instance that is in no process of this host.
func (h handle) callRemote(ctx context.Context, r retry, fn func(context.Context, *pluginclient.Client) error) error {
	for try := 0; ; try++ {
		c, err := h.s.bundle.remote.Client(ctx, h.id, r == awaiting)
		if err != nil {
			return unavailable(err)
		}
		switch err = fn(ctx, c); {
		case !errors.Is(err, protocol.ErrGone):
			return err
		case r != retryOnce || try > 0:
			return fmt.Errorf("the link with the agent broke: %w", err)
		}
	}
}
