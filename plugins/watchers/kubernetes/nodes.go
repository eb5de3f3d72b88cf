package kubernetes

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
)

// nodesAgain is how long the nodes are not listed again: after a denial, or for a node that is not among them.
const nodesAgain = 10 * time.Minute

// nodes knows the platforms of the nodes, which never change: they are listed when pods run on one that is not known.
type nodes struct {
	client *cluster.Client
	log    hclog.Logger

	mu    sync.Mutex
	known map[string]sdk.Platform
	asked time.Time
	// missing is a node that was not in the last list.
	missing string
}

// platforms returns the platform of each node by its name, if it is known. Without the right to list nodes, which only
// a ClusterRole grants, none is: that is no error.
func (n *nodes) platforms(ctx context.Context, names map[string]struct{}) (map[string]sdk.Platform, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	unknown := ""
	for name := range names {
		if _, has := n.known[name]; !has && name > unknown {
			unknown = name
		}
	}
	if unknown == "" || unknown == n.missing && time.Since(n.asked) < nodesAgain {
		return n.known, nil
	}
	found := map[string]sdk.Platform{}
	_, err := n.client.List(ctx, cluster.Resource{Version: "v1", Name: "nodes"}, func(o *cluster.Object) {
		found[o.Metadata.Name] = sdk.Platform{
			OS: o.Metadata.Labels["kubernetes.io/os"], Architecture: o.Metadata.Labels["kubernetes.io/arch"],
		}
	})
	var denied *cluster.DeniedError
	switch {
	case errors.As(err, &denied):
		n.log.Debug("the platforms of the nodes are not known", "error", err)
	case err != nil:
		return nil, err
	default:
		n.known = maps.Clone(found)
	}
	n.asked, n.missing = time.Now(), ""
	for name := range names {
		if _, has := n.known[name]; !has && name > n.missing {
			n.missing = name
		}
	}
	return n.known, nil
}
